/** Words of invented names of people and companies. */
export const firstNames = (
  'Ada Adem Aiko Alma Amos Anouk Arlo Asha Basil Bela Bruno Carla Cleo Dario Delia Edda Elio Elsa Emre ' +
  'Enzo Fadi Farah Finn Flora Gita Goran Greta Hana Hugo Ida Ines Ivo Jana Joel Juno Kai Kira Lars Leda ' +
  'Lior Luca Maja Marek Mina Nadia Nils Noor Olga Omar Otto Petra Pia Quinn Rafi Rosa Runa Sami Selma ' +
  'Sofia Tarek Tilda Uma Vera Viggo Wanda Yara Yusuf Zeno'
).split(' ');

export const lastNames = (
  'Abara Acker Alves Arndt Banerji Barlow Becker Bianchi Borg Brandt Castell Chavez Costa Dahl Danjuma ' +
  'Deniz Dubois Ekberg Eriksen Farkas Ferro Fontaine Garrido Grove Haas Halloran Hansen Holm Ibarra ' +
  'Iversen Jansen Kaminski Kaya Keller Kovac Lang Larkin Lindqvist Lobo Madsen Marsh Meyer Moreau ' +
  'Nakata Novak Obi Okoro Olsen Osei Palmer Petrov Quill Ramos Ritter Rossi Sandoval Sato Schultz Serra ' +
  'Silva Soto Stern Takeda Tanaka Urban Valdez Vance Varga Vogel Weiss Winter Yilmaz Zeller Ziegler'
).split(' ');

export const companyWords = (
  'Amber Anchor Aspen Atlas Beacon Birch Cedar Cinder Cobalt Copper Coral Delta Ember Falcon Fjord ' +
  'Flint Garnet Granite Harbor Hazel Helix Indigo Ivory Jade Juniper Kestrel Lantern Lark Linden Lumen ' +
  'Maple Meridian Mosaic Nimbus North Oak Onyx Orbit Pearl Pine Prism Quartz Raven Ridge River Saffron ' +
  'Sage Slate Solstice Spruce Summit Tern Timber Topaz Vector Violet Willow Zenith'
).split(' ');

export const titles = (
  'Account Executive,Chief Financial Officer,Chief Technology Officer,Customer Success Lead,Data Engineer,' +
  'Director of Operations,Founder,Head of Marketing,Head of Sales,HR Manager,Procurement Manager,Product Manager,' +
  'Sales Manager,Senior Consultant,Software Engineer,VP Sales'
).split(',');

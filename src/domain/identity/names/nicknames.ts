/**
 * First names that one person can have: each line is a name with its short forms and other spellings. A name can be in
 * several lines: Alex is Alexander or Alexandra, who are different names.
 */
const lines = `
  abigail abby gail
  albert al bert
  alexander alex alec sandy sasha xander
  alexandra alex lexi sandra sandy sasha
  alfred al alf fred freddie
  allison alison ally allie
  andreas andi
  andrew andy drew
  angela angie
  ann anne annie
  anthony antony tony
  barbara barb babs
  benjamin ben benny
  beverly beverley bev
  bradley brad
  calvin cal
  cameron cam
  caroline carolyn carrie
  catherine katherine kathryn katharine cathy kathy kate katie kat
  charles charlie chuck chas
  christina kristina christine kristine chris tina
  christopher kristofer chris topher kit
  clifford cliff
  cynthia cindy
  daniel dan danny
  danielle dani
  david dave davey
  deborah debra deb debbie
  dennis denis denny
  donald don donnie
  dorothy dot dottie
  douglas doug
  edward ed eddie ted ned
  eleanor ellie nell nora
  elizabeth elisabeth liz lizzie beth betsy betty eliza libby
  emily em emmy
  emmanuel emanuel manny
  eugene gene
  francis frank
  frances fran
  francisco paco pancho
  franklin frank
  frederick fredrick frederic fred freddie fritz
  gabriel gabe
  gabrielle gabby
  geoffrey jeffrey jeffery geoff jeff
  gerald gerry jerry
  gerard gerry
  gregory greg gregg
  harold harry hal
  henry hank harry
  herbert herb bert
  ignacio nacho
  isabella isabel isabelle bella izzy
  jacob jake
  jacqueline jackie
  james jim jimmy jamie
  jennifer jen jenn jenny
  jeremy jerry
  jessica jess jessie
  johannes hans jan
  john jon johnny jack
  jonathan johnathan jon jonny
  jose pepe
  joseph joe joey
  joshua josh
  judith judy
  kenneth ken kenny
  kimberly kim
  lawrence laurence larry laurie
  leonard len lenny leo
  leslie lesley les
  louis lewis lou louie
  lucas luke
  madeline madeleine maddie
  margaret maggie meg peggy marge margie greta rita
  mark marc
  martin marty
  matthew mathew matt matty
  maximilian max
  maxwell max
  megan meghan meg
  melissa mel missy
  michael micheal mike mick mickey mikey michel
  michelle michele shelly
  mitchell mitch
  nancy nan
  natalie natalia nat
  nathan nathaniel nate nat
  nicholas nicolas nick nicky nico
  nicole nicky nikki
  oliver ollie
  pamela pam
  patricia pat patty patti tricia trish
  patrick pat paddy
  peter pete
  philip phillip phil
  rachel rachael rach
  raymond ray
  rebecca rebekah becky becca
  reginald reg reggie
  richard rick rich richie dick ricky
  robert bob bobby rob robbie bert
  roberto beto
  rodney rod
  roger rodger
  ronald ron ronnie
  russell russ
  samantha sam
  samuel sam sammy
  sarah sara sally
  sean shaun shawn
  sebastian seb
  sharon shari
  sophia sofia sophie
  stephanie steph
  stephen steven stefan steve
  stuart stewart stu
  susan sue susie
  sylvia silvia
  teresa theresa terry tess
  terence terrence terry
  theodore ted teddy theo
  thomas tom tommy
  timothy tim timmy
  valerie val
  veronica ronnie
  victor vic
  victoria vicky vicki tori
  vincent vince vinny
  virginia ginny
  walter walt wally
  william bill billy will willie liam
  zachary zach zack
`;

const groups = lines
  .trim()
  .split('\n')
  .map((line) => new Set(line.trim().split(' ')));

/**
 * Whether two first names can be the same person's. This keeps an agreeing address valid, but is no evidence alone,
 * because different people also have such names.
 *
 * @param one in comparison form, as `other`
 */
export function areFormsOfOneName(one: string, other: string): boolean {
  return groups.some((group) => group.has(one) && group.has(other));
}

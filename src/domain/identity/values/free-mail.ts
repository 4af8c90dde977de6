/**
 * Providers of addresses for everybody, including internet providers. Their domains identify no employer. The package
 * free-email-domains has more, but its installation downloads the list and fails without internet.
 */
const providers = new Set(
  (
    'gmail.com googlemail.com icloud.com me.com mac.com msn.com passport.com aol.com aim.com ymail.com ' +
    'rocketmail.com protonmail.com protonmail.ch proton.me pm.me tutanota.com tutanota.de tuta.io ' +
    'tuta.com hey.com fastmail.com fastmail.fm hushmail.com mail.com email.com usa.com inbox.com ' +
    'lycos.com excite.com caramail.com zohomail.com mailbox.org posteo.de duck.com ' +
    'privaterelay.appleid.com mozmail.com live.com live.co.uk live.fr live.de live.it live.nl live.be ' +
    'live.ca live.se live.dk live.no live.ie live.at live.cl live.jp live.cn live.in live.ru ' +
    'live.com.au live.com.mx live.com.ar live.com.pt windowslive.com web.de t-online.de freenet.de ' +
    'arcor.de online.de 1und1.de email.de bluewin.ch hispeed.ch sunrise.ch chello.at aon.at orange.fr ' +
    'wanadoo.fr free.fr laposte.net sfr.fr neuf.fr bbox.fr numericable.fr cegetel.net club-internet.fr ' +
    'libero.it virgilio.it tin.it alice.it tiscali.it inwind.it iol.it fastwebnet.it poste.it ' +
    'telefonica.net terra.es ono.com sapo.pt telenet.be skynet.be scarlet.be ziggo.nl kpnmail.nl ' +
    'kpnplanet.nl planet.nl xs4all.nl home.nl hetnet.nl upcmail.nl casema.nl btinternet.com ' +
    'btopenworld.com sky.com virginmedia.com virgin.net ntlworld.com talktalk.net tiscali.co.uk ' +
    'blueyonder.co.uk plusnet.com eircom.net telia.com bredband.net spray.se comhem.se online.no ' +
    'broadpark.no tele2.se get2net.dk mail.dk jubii.dk pp.inet.fi kolumbus.fi seznam.cz centrum.cz ' +
    'email.cz atlas.cz azet.sk zoznam.sk wp.pl o2.pl onet.pl onet.eu op.pl vp.pl interia.pl interia.eu ' +
    'gazeta.pl poczta.fm abv.bg mail.bg citromail.hu freemail.hu t-online.hu otenet.gr mail.ru bk.ru ' +
    'inbox.ru list.ru rambler.ru ukr.net i.ua meta.ua walla.com walla.co.il 012.net.il bezeqint.net ' +
    'comcast.net verizon.net att.net sbcglobal.net bellsouth.net pacbell.net cox.net charter.net ' +
    'spectrum.net rr.com twc.com earthlink.net mindspring.com juno.com netzero.net netzero.com ' +
    'optonline.net optimum.net frontier.com frontiernet.net windstream.net centurylink.net q.com ' +
    'embarqmail.com mchsi.com suddenlink.net roadrunner.com peoplepc.com shaw.ca rogers.com ' +
    'sympatico.ca bell.net telus.net videotron.ca cogeco.ca bigpond.com bigpond.net.au optusnet.com.au ' +
    'iinet.net.au tpg.com.au xtra.co.nz uol.com.br bol.com.br terra.com.br ig.com.br globo.com ' +
    'globomail.com prodigy.net.mx qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com ' +
    'tom.com 139.com 189.cn aliyun.com naver.com daum.net hanmail.net nate.com docomo.ne.jp ezweb.ne.jp ' +
    'softbank.ne.jp i.softbank.jp nifty.com biglobe.ne.jp rediffmail.com rediff.com sify.com ' +
    'indiatimes.com singnet.com.sg pacific.net.sg mweb.co.za telkomsa.net webmail.co.za'
  ).split(' '),
);

/** Providers with the same name in many countries: `yahoo.co.uk`, `hotmail.fr`. */
const families = /^(?:yahoo|hotmail|outlook|gmx|yandex)\.(?:com|net|(?:co|com|ne)\.[a-z]{2}|[a-z]{2})$/;

/**
 * Whether a domain belongs to a provider of addresses for everybody, so that it identifies no employer.
 *
 * @param domain in lower case, as after the `@`
 */
export function isFreeMail(domain: string): boolean {
  return providers.has(domain) || families.test(domain);
}

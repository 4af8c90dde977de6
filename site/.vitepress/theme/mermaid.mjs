import url from '@mermaid-js/tiny/dist/mermaid.tiny.js?url';

let loading;

/** Mermaid is a file of its own, which only pages with a diagram load. */
export function loadMermaid() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.addEventListener('load', () => resolve(globalThis.mermaid));
    script.addEventListener('error', () => reject(new Error('Mermaid cannot be loaded')));
    document.head.append(script);
  });
  return loading;
}

declare global {
  /** By address: what `public/early.js` has asked for while this script was still on its way. */
  var capstanAsked: Map<string, Promise<Response>> | undefined;
}

/** An answer is given once: who asks again wants to know what is so by then. */
export function takeEarly(address: string): Promise<Response> | undefined {
  const answer = globalThis.capstanAsked?.get(address);
  globalThis.capstanAsked?.delete(address);
  return answer;
}

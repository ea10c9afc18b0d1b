declare global {
  /** By URL: requests that `public/early.js` sent while this script was still loading. */
  var capstanAsked: Map<string, Promise<Response>> | undefined;
}

/** Each response is used once: later requests need fresh data. */
export function takeEarly(address: string): Promise<Response> | undefined {
  const answer = globalThis.capstanAsked?.get(address);
  globalThis.capstanAsked?.delete(address);
  return answer;
}

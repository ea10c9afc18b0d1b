/** Such as `1,234,567`, of a whole number. By hand: the first time, Node's own way takes as long as starting Node. */
export function whole(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

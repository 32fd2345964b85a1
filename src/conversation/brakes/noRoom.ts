/** Returns the reason why content of `tokens` tokens does not go onto the trunk, which has room for `room` tokens. */
export function noRoom(
  { correction }: { readonly correction: number },
  what: string,
  tokens: number,
  room: number,
): string {
  const measured = (count: number): string => Math.max(0, Math.round(count * correction)).toLocaleString('en')
  return `there is room for ${measured(room)} tokens, and ${what} have ${measured(tokens)}: compact or hide something first, or name fewer steps`
}

/** Returns the reason why something of so many tokens does not come onto the trunk, where there is room for fewer. */
export function noRoom(
  { correction }: { readonly correction: number },
  what: string,
  tokens: number,
  room: number,
): string {
  const measured = (count: number): string => Math.max(0, Math.round(count * correction)).toLocaleString('en')
  return `there is room for ${measured(room)} tokens, and ${what} have ${measured(tokens)}: compact or hide something first, or name fewer steps`
}

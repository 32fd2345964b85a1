/** Text that a model reads of a call that was denied. No person denied it where nobody could be asked, as programs say in their reason. */
export function denialText(reason?: string): string {
  const by = reason !== undefined && /^nobody can be asked\b/i.test(reason) ? '' : ' by the user'
  return `Denied${by}: it was not run.${reason === undefined ? '' : ` Reason: ${reason}`}`
}

/** Returns the reason in such a text; any other text as it is. Pure. */
export const denialReason = (text: string): string =>
  text.replace(/^Denied(?: by the user)?: it was not run\.(?: Reason: )?/, '')

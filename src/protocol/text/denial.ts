/** Returns the text that a model reads about a denied call. The user is not named if nobody could be asked, as programs say in their reason. */
export function denialText(reason?: string): string {
  const by = reason !== undefined && /^nobody can be asked\b/i.test(reason) ? '' : ' by the user'
  return `Denied${by}: it was not run.${reason === undefined ? '' : ` Reason: ${reason}`}`
}

/** Returns the reason in a text by `denialText`. Any other text is returned unchanged. Pure. */
export const denialReason = (text: string): string =>
  text.replace(/^Denied(?: by the user)?: it was not run\.(?: Reason: )?/, '')

/** Returns a progress report as text for people: its own text, or the message and progress of a remote tool. Pure. */
export function progressText(report: unknown): string | undefined {
  if (typeof report === 'string') return report
  if (typeof report !== 'object' || report === null) return undefined
  const { message, progress, total } = report as { readonly [field: string]: unknown }
  if (typeof message === 'string' && message !== '') return message
  if (typeof progress !== 'number') return undefined
  return typeof total === 'number' ? `${progress} of ${total}` : `${progress}`
}

import type { InnerDecision } from '../../protocol/parts/inner/innerDecisions.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { messageOf, type ErrorInfo } from '../../protocol/errors.ts'
import { textOf } from '../../protocol/messages.ts'
import type { PartDraft } from '../../machines/partStates.ts'
import { isBlocks } from '../tools/isBlocks.ts'
import { jsonOf } from '../tools/jsonOf.ts'
import { plainBlocks } from './resultContent.ts'

/** End of a call that a running call makes, as its record has it. */
export type End = Omit<Extract<PartDraft, { type: 'inner.end' }>, 'type' | 'callId' | 'key' | 'n' | 'name' | 'at'>

/** Arguments with which a call may start, and the rule by which it may. */
export interface Permitted {
  readonly input: unknown
  readonly rule?: string
}

/** The same, or the end of one that may not. */
export type Allowed = Permitted | { readonly end: End }

export const failed = (message: string, code?: string): End => ({
  error: code === undefined ? { message } : { message, code },
})

/** Returns the code of an error, such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : undefined
}

export const unwritten = ({ message }: ErrorInfo): Error => new Error(message)

export async function ownEnd(own: () => unknown): Promise<End> {
  try {
    return { value: valueOf(await own()) }
  } catch (thrown) {
    return failed(messageOf(thrown), codeOf(thrown))
  }
}

export function allowedBy(
  { decision, reason, input: edited }: Omit<InnerDecision, 'key' | 'asked'>,
  input: unknown,
): Allowed {
  if (decision === 'approve') return { input: edited ?? input }
  const why = reason === undefined ? '' : ` Reason: ${reason}`
  return { end: failed(`Denied by the user: it was not run.${why}`, 'DENIED') }
}

/** Returns what a tool returned as JSON; blocks of text are their text. */
export function valueOf(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string') return value
  if (!isBlocks(value)) return JSON.parse(jsonOf(value) || 'null')
  const blocks = plainBlocks(value)!
  return blocks.every(({ type }) => type === 'text') ? textOf(blocks) : cloneJson(blocks)
}

export const shownOf = ({ value, error }: End): unknown => error?.message ?? value

export const reviewedEnd = ({ content, isError }: { content: Parameters<typeof textOf>[0]; isError: boolean }): End =>
  isError ? failed(textOf(content), 'WITHHELD') : { value: valueOf(content) }

import type { RunStopReason } from '../../../src/protocol/records.ts'
import { withOutwardError } from '../../bridge/src/server/outwardError.ts'
import type { Exchange } from './exchange.ts'
import type { UiFinishReason, UiMessageChunk } from './uiTypes.ts'

/** The end of a stream. */
export interface Ending {
  readonly finishReason: UiFinishReason
  readonly error?: string
  readonly isAborted?: true
}

/** Finish reason by stop reason. After `interrupted`, clients send nothing on their own. */
const finishReasons: { readonly [R in RunStopReason]: UiFinishReason } = {
  stop: 'stop',
  length: 'length',
  refusal: 'content-filter',
  paused: 'interrupted',
  aborted: 'interrupted',
  error: 'error',
}

export const abortedEnding: Ending = { finishReason: 'interrupted', isAborted: true }

/** The last chunks of a stream whose agent another process has taken over. */
export const lostChunks: readonly UiMessageChunk[] = [
  { type: 'error', errorText: 'Another process has the conversation by now. Load it again, where it is served.' },
  { type: 'finish', finishReason: 'interrupted' },
]

/** Returns the end of an exchange's stream, by its last run. An exchange without an end was aborted. */
export function endingOf({ end }: Exchange): Ending {
  if (end === undefined) return abortedEnding
  const { stopReason, error } = withOutwardError(end)
  const finishReason = finishReasons[stopReason]
  if (stopReason === 'error') return { finishReason, error: error?.message ?? 'The run failed.' }
  if (stopReason === 'paused' && error !== undefined) return { finishReason, error: error.message }
  return stopReason === 'aborted' ? abortedEnding : { finishReason }
}

/** Writes the last chunks of a stream. */
export function writeEnding(
  { finishReason, error, isAborted }: Ending,
  exchange: Pick<Exchange, 'metadata'> | undefined,
  { write }: { write(chunk: UiMessageChunk): void },
): void {
  const messageMetadata = exchange?.metadata
  if (isAborted === true) write({ type: 'abort' })
  // A client reads nothing after an error.
  if (error !== undefined && messageMetadata !== undefined) write({ type: 'message-metadata', messageMetadata })
  if (error !== undefined) write({ type: 'error', errorText: error })
  write({ type: 'finish', finishReason, ...(messageMetadata === undefined ? {} : { messageMetadata }) })
}

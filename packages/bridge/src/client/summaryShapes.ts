import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentSummary, SessionEntry } from '../../../wire/src/frames.ts'
import type { LastRun } from '../../../../src/protocol/runs/lastRun.ts'
import type { Usage } from '../../../../src/protocol/messages.ts'
import type { Limits } from '../../../../src/protocol/runs/runLimits.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { PauseReason, RunStopReason, Spent } from '../../../../src/protocol/records.ts'
import {
  count,
  fields,
  list,
  maybe,
  number,
  orNull,
  partly,
  record,
  text,
  word,
  yesOrNo,
  type Fields,
  type Shape,
} from './shape.ts'

/** Shape of an error from a server of any version. */
export const errorShape = fields<ErrorInfo>({ code: text, message: text })

export const stopReason = word<RunStopReason>('stop', 'length', 'refusal', 'paused', 'aborted', 'error')

/** Shape of a pause's reason: the fields of each kind are as in the log. */
export const pauseShape = partly<PauseReason>({ type: text as Shape<never> })

export const usage = fields<Usage>({
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  reasoning: maybe(number),
  estimated: maybe(word(true)),
})

const spent = fields<Spent>({ usage, costUsd: number, turns: count })

const lastRun = fields<LastRun>({ stopReason, at: number, error: maybe(errorShape), reason: maybe(pauseShape) })

export const metadataShape = record as unknown as Shape<Metadata>

/** Shapes of the fields of an agent's summary. */
export const summaryFields: Fields<AgentSummary> = {
  agentId: text,
  definition: text,
  active: maybe(text),
  path: list(text),
  state: text,
  seq: count,
  head: orNull(count),
  pendingApprovals: list(text),
  pending: maybe(list(text)),
  spent,
  treeSpent: maybe(spent),
  title: maybe(text),
  last: maybe(lastRun),
  busySince: maybe(number),
  limits: maybe(record as Shape<Limits>),
  due: maybe(number),
  activeAt: maybe(number),
  doing: maybe(text),
  contextTokens: maybe(fields<{ used: number; window?: number }>({ used: number, window: maybe(number) })),
  metadata: maybe(metadataShape),
  worker: maybe(text),
}

/** Shape of an agent in a list. */
export const summaryShape = fields<AgentSummary>(summaryFields)

/** Shape of a session in a list. */
export const sessionShape = fields<SessionEntry>({
  agentId: text,
  kind: maybe(word('machine')),
  definition: text,
  path: list(text),
  status: word('running', 'completed', 'aborted', 'rejected', 'paused', 'failed'),
  isStopped: yesOrNo,
  createdAt: number,
  updatedAt: number,
  runs: count,
  turns: count,
  usage,
  costUsd: number,
  title: maybe(text),
  last: maybe(lastRun),
  forkedFrom: maybe(text),
  metadata: maybe(metadataShape),
  error: maybe(errorShape),
})

import { brakeWords } from '../../../../../words/src/brakes/brakeWords.ts'
import type { Refusal } from '../../../../../../src/protocol/guarding.ts'
import type { PolicyEnd } from '../../../../../../src/protocol/braking.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { NoticeRow } from './graphRow.ts'
import { counted } from '../../../../../charts/src/amounts.ts'
import { askingCost } from '../words/numbers.ts'

/** Content of a row that is neither a message nor a change of the trunk. */
export type Notice = Pick<NoticeRow, 'tone' | 'text' | 'link'>

/** Capitalises a reason: those of brakes begin with the name of the refused action. */
const sentence = (reason: string): string => reason.slice(0, 1).toUpperCase() + reason.slice(1)

const limits = { turns: 'turns', tokens: 'tokens', costUsd: 'cost', ms: 'time' } as const

/** Words about an attempt that was the last. */
export const noAttempt = 'no further attempt'

/** Returns the notice for a record, if it has one. Pure. */
export function noticeOf(record: LogRecord): Notice | undefined {
  switch (record.type) {
    case 'run.end':
      return endOf(record)
    case 'run.abandoned':
      return { tone: 'warning', text: 'The paused run was given up.' }
    case 'reply.reset': {
      const { next, retryAt } = record
      const then = next !== undefined ? `asking ${next}` : retryAt === undefined ? noAttempt : 'tried again'
      return { tone: 'warning', text: `Attempt ${record.attempt} failed: ${record.error.message} (${then})` }
    }
    case 'revert.applied':
      if (record.applied) return undefined
      return { tone: 'warning', text: sentence(record.reason) }
    case 'stall.detected':
      // The end of the run says it.
      if (record.rung === 'pause') return undefined
      return { tone: 'warning', text: `In circles: ${record.evidence} (${doneAbout[record.rung]})` }
    case 'policy.end':
      if (saysNothing(record)) return undefined
      return {
        tone: record.outcome === 'failed' ? 'warning' : 'plain',
        text: `Policy ${record.policy} ${policyWords[record.outcome]}${record.reason === undefined ? '' : `: ${record.reason}`}${costOf(record)}`,
      }
    case 'prune.applied':
      if (record.reason !== undefined) return { tone: 'warning', text: sentence(record.reason) }
      if (record.shown !== true) return undefined
      return { tone: 'plain', text: `Shown to the model again: ${record.steps.map(formatNodeId).join(', ')}` }
    case 'pin.applied':
      if (record.applied) return undefined
      return { tone: 'warning', text: sentence(record.reason ?? `Pin of ${record.requested} refused`) }
    case 'compaction.end':
      if (record.applied) return undefined
      return { tone: 'warning', text: `No compaction: ${record.reason ?? 'nothing to condense'}` }
    case 'child.spawned':
      if (record.incognito === true) return { tone: 'plain', text: `Began ${record.definition} beside it, incognito` }
      return { tone: 'plain', text: `Began ${record.definition} beside it`, link: record.childId }
    case 'child.ended': {
      const { error, spent, childId } = record
      const why = error === undefined ? 'ended' : `failed: ${error.message}`
      return {
        tone: error === undefined ? 'plain' : 'bad',
        text: `Sub-agent ${why}, after ${counted(spent.turns, 'turn')}`,
        link: childId,
      }
    }
    case 'agent.stopped':
      return { tone: 'plain', text: 'Stopped: it takes no more prompts.' }
    default:
      return brakeNotice(record)
  }
}

const reasons: { readonly [T in LogRecord['type']]?: (record: never) => string | undefined } = brakeWords.notice

function brakeNotice(record: LogRecord): Notice | undefined {
  const reason = reasons[record.type]?.(record as never)
  return reason === undefined ? undefined : { tone: 'warning', text: sentence(reason) }
}

const costOf = ({ usage, costUsd }: PolicyEnd): string =>
  usage === undefined ? '' : ` (asking took ${askingCost(usage, costUsd)})`

/** Returns true if the end of a policy needs no notice: the outcome of its plan has a row of its own, with the name of the policy. */
const saysNothing = ({ outcome, requestId, reason, note, usage }: PolicyEnd): boolean =>
  outcome === 'nothing'
    ? requestId === undefined
    : outcome === 'planned' && reason === undefined && note === undefined && usage === undefined

const policyWords = { planned: 'has a plan', nothing: 'changes nothing', failed: 'failed' } as const

const doneAbout = {
  none: 'nothing was done about it',
  note: 'the model was told',
  revert: 'it was reverted',
} as const

const refusedText = ({ at, guard, reason }: Refusal): string =>
  `${at === 'input' ? 'What was said' : 'The answer'} was refused by the guard ${guard}: ${reason}`

function endOf(record: Extract<LogRecord, { type: 'run.end' }>): Notice | undefined {
  const { stopReason, error, reason, refusal } = record
  switch (stopReason) {
    case 'stop':
      return undefined
    case 'error':
      return { tone: 'bad', text: `The run failed: ${error?.message ?? 'no reason given'}` }
    case 'aborted':
      return { tone: 'warning', text: 'The run was aborted.' }
    case 'refusal':
      return { tone: 'bad', text: refusal === undefined ? 'The model refused.' : refusedText(refusal) }
    case 'length':
      return { tone: 'warning', text: 'The reply was cut off at its length limit.' }
    case 'paused':
      if (reason?.type === 'limit') {
        const { limit, allowed, used } = reason
        const amount = `${used.toLocaleString('en')} of ${allowed.toLocaleString('en')}`
        return { tone: 'warning', text: `Paused: the limit of ${limits[limit]} was reached (${amount}).` }
      }
      if (reason?.type === 'store') return { tone: 'bad', text: `Paused: ${reason.error.message}` }
      if (reason?.type === 'stall') return { tone: 'warning', text: `Paused: it went in circles: ${reason.evidence}` }
      if (reason?.type === 'interrupted')
        return { tone: 'warning', text: 'Paused: its process died in the middle of the run.' }
      return { tone: 'warning', text: 'Paused.' }
  }
}

import type { RevertRequest, Stall, StallOutcome, StallRule } from '../../../protocol/braking.ts'
import { formatNodeId, type NodeId } from '../../../protocol/ids.ts'
import type { Conversation } from '../../tree/conversation.ts'
import { mayWait } from '../revert/heldRevert.ts'
import { isStanding } from '../../tree/node.ts'
import { defaultRevertPolicy, planRevert, type RevertRules } from '../revert/planRevert.ts'
import { stallOf, stepsAfter } from './stall.ts'
import { defaultStallRules } from './stallRules.ts'

/** The measures against a loop, each of which can be turned off. */
export interface StallPolicy {
  readonly rules: readonly StallRule[]
  /** Tells the model about the loop. */
  readonly note: boolean
  /** Reverts to the step before the loop. */
  readonly revert: boolean
  /** Pauses the run, once the first two have failed. */
  readonly pause: boolean
}

export const defaultStallPolicy: StallPolicy = { rules: defaultStallRules, note: true, revert: true, pause: true }

/** Inputs of a decision beside the conversation. */
export interface StallSituation {
  /** Id for the revert, if there is one. */
  readonly revertId: string
  /** Policy for reverts; `null` without reverts. */
  readonly reverts: RevertRules | null
  readonly waiting: readonly RevertRequest[]
  /** True if the model can ask for a revert itself. */
  readonly offersRevert: boolean
}

/** Number of steps with calls after which a new series of stalls begins. */
const sameStallSteps = 6

/** Maximum number of reverts to one target that the runtime requests. */
const mostRevertsPerTarget = 2

/** Decides about the loop that ends with the newest step; `undefined` if there is none, or if the log already has the decision. Pure. */
export function decideStall(
  conversation: Conversation,
  policy: StallPolicy,
  situation: StallSituation,
): StallOutcome | undefined {
  const stall = stallOf(conversation, policy.rules)
  if (stall === undefined) return undefined
  const { last, counted } = conversation.annotations?.stalls ?? {}
  if (last !== undefined && newestOf(last) === newestOf(stall)) return undefined
  const isSame = counted !== undefined && stepsAfter(conversation, newestOf(counted)) <= sameStallSteps
  const count = isSame ? counted.count + 1 : 1
  const mayRevert = whyNotReverted(conversation, stall, situation) === undefined
  const rung = rungOf(count, policy, mayRevert)
  const outcome: StallOutcome = { ...stall, count, rung }
  if (rung !== 'note') return outcome
  const offered = situation.offersRevert && isAllowed(conversation, stall, situation.reverts) ? stall.target : undefined
  return { ...outcome, note: noteOf(stall, rungOf(count + 1, policy, mayRevert), offered) }
}

/** Returns the detection whose pause is missing because the process died in between. */
export function pauseDue({ annotations }: Conversation): StallOutcome | undefined {
  const counted = annotations?.stalls.counted
  return counted?.rung === 'pause' ? counted : undefined
}

const newestOf = ({ steps }: Stall): NodeId => steps.at(-1)!

/** Position in a series of stalls from which the run may be paused: the note and the revert have failed by then. */
const firstPause = 3

/** Chooses the measure: the note, then the revert, or the one of them that is on and possible; from the third detection in a series on, the pause. */
function rungOf(count: number, policy: StallPolicy, mayRevert: boolean): StallOutcome['rung'] {
  if (policy.pause && count >= firstPause) return 'pause'
  const rungs = (['note', 'revert'] as const).filter((rung) => policy[rung])
  const rung = rungs[Math.min(count, rungs.length) - 1] ?? 'none'
  if (rung !== 'revert' || mayRevert) return rung
  return policy.note ? 'note' : 'none'
}

export const stallRevert = (id: string, { target, evidence }: Stall): RevertRequest => ({
  id,
  by: 'runtime',
  category: 'failure',
  step: formatNodeId(target),
  summary: evidence,
})

/** Rules whose loop may be reverted. A loop of `sameError` changed nothing, because a change would end it. */
const revertible: ReadonlySet<StallRule> = new Set(['repeat', 'repeat4', 'cycle', 'sameError'])

function whyNotReverted(conversation: Conversation, stall: Stall, situation: StallSituation): string | undefined {
  const { revertId, reverts, waiting } = situation
  if (!revertible.has(stall.rule)) return 'it is no loop of equal steps'
  if (waiting.some((request) => request.id !== revertId && !mayWait(request))) return 'another revert waits'
  const { path } = conversation
  const span = path.slice(conversation.node(stall.target)!.depth)
  if (span.some((node) => node.isIrreversible === true || isStanding(node))) return 'it cannot be undone'
  return isAllowed(conversation, stall, reverts) ? undefined : 'the rules of reverts forbid it'
}

/** Returns true if a revert to the target would be applied. It never removes a message of a person. */
function isAllowed(conversation: Conversation, stall: Stall, reverts: RevertRules | null): boolean {
  if (reverts === null) return false
  const maxRevertsPerTarget = Math.min(reverts.maxRevertsPerTarget, mostRevertsPerTarget)
  const rules = { ...defaultRevertPolicy, ...reverts, maxRevertsPerTarget, onUserMessage: 'refuse' } as const
  return typeof planRevert(conversation, stallRevert('', stall), rules) !== 'string'
}

function noteOf({ evidence }: Stall, next: StallOutcome['rung'], offered: NodeId | undefined): string {
  const back = offered === undefined ? '' : ` revert_to_state can take you back to ${formatNodeId(offered)}, before it.`
  return `You are going in circles: ${evidence}. Try something else, or say what is in the way.${back}${warnings[next]}`
}

const warnings: { readonly [R in StallOutcome['rung']]: string } = {
  none: '',
  note: '',
  revert: ' If it goes on, these steps are taken back.',
  pause: ' If it goes on, the run is paused.',
}

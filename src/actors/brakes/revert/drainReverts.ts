import type { Sizes } from '../../../conversation/limits/economics.ts'
import {
  applyHeld,
  carriedOutAs,
  mayWait,
  planHeld,
  refusalOf,
} from '../../../conversation/brakes/revert/heldRevert.ts'
import type { ConversationNode } from '../../../conversation/tree/node.ts'
import { planUndo } from '../../../conversation/brakes/revert/planUndo.ts'
import {
  applyRevert,
  planRevert,
  refuseRevert,
  type RevertPlan,
} from '../../../conversation/brakes/revert/planRevert.ts'
import { sizesOfPrune, sizesOfRevert } from '../../../conversation/limits/trunkSizes.ts'
import { askedAt, usedByAsking } from '../../../conversation/brakes/usedByAsking.ts'
import type { DrainInput, DrainOutput } from '../../../machines/drainTypes.ts'
import type { PruneOutcome, RevertOutcome, RevertRequest } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { addUsage, noUsage } from '../../../protocol/messages.ts'
import type { AgentPorts, FindPorts } from '../../agentPorts.ts'
import { revertSettingsOf } from '../../define/brakingOptions.ts'
import { effectsOf } from './effectsOf.ts'
import { economicsFor } from '../economicsFor.ts'
import { effect } from '../../effect.ts'
import { costOf } from '../../turn/pricing.ts'
import { requestTokens } from '../../turn/estimates.ts'
import { isWritten, writeTagText, type TagText } from './writeTagText.ts'

/** The effect of `draining.reverts`: decides every queued revert against the current trunk. At most one is applied. */
export const drainReverts = (find: FindPorts) =>
  effect<DrainOutput<'revert'>, DrainInput<'revert'>>(async (input, { signal }) => {
    const ports = find(input.agentId)
    const drain = new RevertDrain(ports, input, signal)
    const { conversation, redactor } = ports
    const waited: RevertRequest[] = []
    for (const asked of input.requests) {
      const request = redactor?.value(asked) ?? asked
      if (drain.isDeferring(request) && askedAt(conversation, request.id)?.id !== conversation.head)
        waited.push(request)
      else await drain.decide(request)
    }
    for (const request of waited) await drain.decideLate(request)
    return drain.output()
  })

class RevertDrain {
  readonly #ports: AgentPorts
  readonly #input: DrainInput<'revert'>
  readonly #signal: AbortSignal
  readonly #outcomes: RevertOutcome[] = []
  readonly #hidden: PruneOutcome[] = []
  readonly #held: string[] = []
  #newHead: ConversationNode | undefined
  #trunkTokens: number

  constructor(ports: AgentPorts, input: DrainInput<'revert'>, signal: AbortSignal) {
    this.#ports = ports
    this.#input = input
    this.#signal = signal
    this.#trunkTokens = ports.conversation.trunkTokens
  }

  output(): DrainOutput<'revert'> {
    const [outcomes, held, hidden] = [this.#outcomes, this.#held, this.#hidden]
    return {
      key: this.#input.key,
      outcomes,
      ...(held.length === 0 ? {} : { held }),
      ...(hidden.length === 0 ? {} : { hidden }),
      contextTokens: requestTokens(this.#ports, this.#trunkTokens),
      at: this.#ports.clock.now(),
    }
  }

  get #rules() {
    return revertSettingsOf(this.#ports.definition)
  }

  isDeferring(request: RevertRequest): boolean {
    return this.#rules.defer === 'uneconomic' && mayWait(request)
  }

  async decide(request: RevertRequest): Promise<void> {
    const ports = this.#ports
    const { conversation } = ports
    const plan = planRevert(conversation, request, this.#rules, this.#newHead === undefined)
    if (typeof plan === 'string') return this.#refuse(request, plan)
    if (this.isDeferring(request)) {
      const sizes = sizesOfRevert(
        conversation,
        applyRevert(request, plan, { text: request.summary ?? '' }, this.#input),
      )
      if (this.#waits(request, plan, sizes)) return
    }
    const written = await this.#write(request, plan)
    if (written.refusal !== undefined) return this.#refuse(request, written.refusal, written)
    // A copy was made in a turn that may stay, and began no sub-agent.
    const turns = plan.span.flatMap(({ turnIndex, copiedFrom }) => (copiedFrom === undefined ? [turnIndex] : []))
    const children = ports.children?.abandon(Math.min(...turns)) ?? []
    const background = ports.background?.within(plan.span.map(({ id }) => id)) ?? []
    const evidence = {
      ...plan.evidence,
      ...(children.length === 0 ? {} : { children }),
      ...(background.length === 0 ? {} : { background }),
    }
    const undo = request.undo === true ? { undo: planUndo(conversation, plan.span, effectsOf(ports.definition)) } : {}
    const outcome = applyRevert(request, { ...plan, evidence, ...undo }, written, this.#input)
    const sizes = sizesOfRevert(conversation, outcome)
    const economics = economicsFor(ports, sizes, this.#used(request, written))
    this.#outcomes.push({ ...outcome, ...this.#spent(written), economics })
    this.#newHead = plan.target
    this.#trunkTokens = sizes.after
  }

  /** Decides a revert that was held back. Work has gone on since, so the steps that the revert was to condense are hidden. */
  async decideLate(request: RevertRequest): Promise<void> {
    const ports = this.#ports
    const { conversation } = ports
    // The trunk is not yet what a revert of this drain makes of it.
    if (this.#newHead !== undefined && this.#input.outlook !== 'ends') return void this.#held.push(request.id)
    if (this.#newHead !== undefined) return this.#settle(refusalOf(request, 'revert refused: one revert per turn'))
    const taken = new Set<NodeId>(this.#hidden.flatMap(({ steps }) => steps))
    const plan = planHeld(conversation, request, this.#rules, askedAt(conversation, request.id), taken)
    if (typeof plan === 'string') return this.#settle(refusalOf(request, plan))
    const forecast = applyHeld(conversation, request, plan, { text: request.summary ?? '' })
    if (this.#waits(request, plan, sizesOfPrune(conversation, forecast))) return
    const written = await this.#write(request, plan)
    if (written.refusal !== undefined)
      return this.#settle({ ...refusalOf(request, written.refusal), ...this.#spent(written) })
    const outcome = applyHeld(conversation, request, plan, written)
    const sizes = sizesOfPrune(conversation, outcome)
    this.#hidden.push({ ...outcome, economics: economicsFor(ports, sizes, this.#used(request, written)) })
    this.#trunkTokens += sizes.after - sizes.before
    this.#settle({ ...carriedOutAs(request, outcome), ...this.#spent(written) })
  }

  /**
   * Returns true if the revert is held back, or refused because the run ends. The cost of asking does not count, because it is already spent. A text
   * that a model has to write is assumed to take a tenth of its span, the accepted maximum.
   */
  #waits(request: RevertRequest, { span }: RevertPlan, sizes: Sizes): boolean {
    const { outlook, expected } = this.#input
    if (outlook === 'crowded') return false
    const { definition, conversation } = this.#ports
    const tokens = span.reduce((sum, node) => sum + node.tokens, 0) * conversation.correction
    const text = isWritten(definition, request) ? tokens / 10 : 0
    const used = text === 0 ? noUsage : { ...noUsage, input: tokens, output: text }
    const after = sizes.after + text / conversation.correction
    const { freed, paysAfter } = economicsFor(this.#ports, { ...sizes, after }, used)
    if (paysAfter !== null && paysAfter <= expected) return false
    if (outlook === 'goesOn' && this.#held.length < definition.maxQueue) this.#held.push(request.id)
    else {
      const pays = paysAfter === null ? 'never pays' : `pays after ${paysAfter} requests, more than the run has made`
      this.#settle(refusalOf(request, `revert refused: it would not have paid (it frees ${freed} tokens and ${pays})`))
    }
    return true
  }

  #write(request: RevertRequest, plan: RevertPlan): Promise<TagText> {
    return this.#ports.within({ type: 'drain' }, () => writeTagText(this.#ports, request, plan, this.#signal))
  }

  #used(request: RevertRequest, { usage = noUsage }: TagText) {
    return addUsage(usedByAsking(this.#ports.conversation, request), usage)
  }

  #spent({ usage }: TagText): Pick<RevertOutcome, 'usage' | 'costUsd'> {
    return usage === undefined ? {} : { usage, costUsd: costOf(usage, this.#ports.frame.pricing) }
  }

  #refuse(request: RevertRequest, reason: string, written: TagText = { text: '' }): void {
    const refusal = refuseRevert(request, reason, this.#ports.conversation, this.#newHead)
    this.#settle({ ...refusal, ...this.#spent(written) })
  }

  #settle(outcome: RevertOutcome): void {
    this.#outcomes.push(outcome)
  }
}

import { cutMiddle } from '../../../protocol/text/cutMiddle.ts'
import { defaultStallRules } from '../../../conversation/brakes/stall/stallRules.ts'
import { stallOf } from '../../../conversation/brakes/stall/stall.ts'
import { compactionTrigger } from '../../../conversation/brakes/compaction/planCompaction.ts'
import type { Step } from '../../../conversation/tree/node.ts'
import { tokensOfShown } from '../../../conversation/request/maskedResults.ts'
import { tokensOfStep, whyNotHiddenUnasked } from '../../../conversation/brakes/prune/planPrune.ts'
import { brakeTools } from '../../../conversation/brakes/revert/planRevert.ts'
import { piecesOf, recallName } from '../../../conversation/tree/stepText.ts'
import { trunkSums } from '../../../conversation/limits/trunkSums.ts'
import type { Stall } from '../../../protocol/braking.ts'
import type { Spent } from '../../../protocol/records.ts'
import { RuntimeError } from '../../../protocol/errors.ts'
import { formatNodeId } from '../../../protocol/ids.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { addUsage, noUsage, type Usage } from '../../../protocol/messages.ts'
import type { ConsultInput } from '../../../machines/drainTypes.ts'
import { isAgentDefinition } from '../../define/agentDefinition.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import { askAbout } from '../../turn/askAbout.ts'
import { askModel, type Answered } from '../../turn/askModel.ts'
import type { Cancellation } from '../../timing/cancellation.ts'
import { remembering } from '../../parts/memory/remembering.ts'
import { through } from '../../models/openStream.ts'
import { costOf } from '../../turn/pricing.ts'
import { requestTokens } from '../../turn/estimates.ts'
import type { Answer, Consultation, Policy, Question, Runnable, StepView } from '../../define/policy.ts'

/** Usage and cost of the models that a policy asked. */
export interface Spending {
  usage: Usage
  costUsd: number
  /** Functions that return the usage so far of each agent that runs for the policy. */
  readonly running: Set<() => Spent>
}

/** Returns the usage and cost so far, including agents that still run. */
export const spentSoFar = ({ usage, costUsd, running }: Spending): Pick<Spending, 'usage' | 'costUsd'> =>
  [...running]
    .map((spent) => spent())
    .reduce((sum, spent) => ({ usage: addUsage(sum.usage, spent.usage), costUsd: sum.costUsd + spent.costUsd }), {
      usage,
      costUsd,
    })

interface Limits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const longestText = 8_000
const defaultAnswerTokens = 1_000

/** Returns a policy's view of an agent. Expensive parts are computed on demand. */
export function consultationOf(
  ports: AgentPorts,
  policy: Policy,
  input: Pick<ConsultInput, 'request' | 'isAtRest' | 'turn'>,
  cancellation: Cancellation,
  spending: Spending,
): Consultation {
  const { agentId, conversation, definition, clock } = ports
  const { contextWindow } = definition.braking!.policies!
  const steps = lazily(() => stepsShown(ports))
  const fixedTokens = lazily(() => fixedTokensOf(ports))
  let hasRunAgents = false
  const how = (): Limits => ({ timeoutMs: policy.timeoutMs, signal: cancellation.signal })
  return {
    policy: policy.name,
    agentId,
    conversation,
    get steps() {
      return steps()
    },
    contextTokens: requestTokens(ports, conversation.trunkTokens),
    get fixedTokens() {
      return fixedTokens()
    },
    contextWindow,
    compactsAt: definition.compaction === null ? undefined : compactionTrigger(definition.compaction.policy),
    canRecall: definition.tools.has(recallName),
    get growth() {
      return Math.round(trunkSums(conversation).growth * conversation.correction)
    },
    turn: input.turn,
    isAtRest: input.isAtRest,
    isRequested: input.request !== undefined,
    get stall() {
      return stallNow(ports)
    },
    last: conversation.annotations?.policies.last(policy.name),
    model: ports.frame.model,
    pricing: ports.frame.pricing,
    brakeTools: [...brakeTools].filter((name) => definition.tools.has(name)).toSorted(),
    clock,
    get signal() {
      return cancellation.signal
    },
    ask: (question) =>
      heeded(async () => {
        const { usage = noUsage, ...answer } = await answerTo(ports, question, how())
        pay(spending, { usage, costUsd: costOf(usage, question.model === undefined ? ports.frame.pricing : null) })
        if (!answer.ok) throw new Error(answer.problem)
        return answer.text
      }),
    run: (agent, prompt) => {
      hasRunAgents = true
      return heeded(async () => await runAgent(ports, agent, prompt, how(), spending))
    },
    remember: (memory, fact) => heeded(() => remembering.keepFact!(ports, memory, fact, hasRunAgents)),
    exportSession: () => ports.exportSession(),
  }
}

/** Runs work that a policy may not await, so that its rejection does not end the process. */
function heeded<T>(run: () => Promise<T>): Promise<T> {
  const answer = run()
  answer.catch(() => {})
  return answer
}

/** Returns the trunk as the model sees it, without the messages that a summary covers. */
const stepsShown = ({ conversation }: AgentPorts): StepView[] =>
  shownOf(conversation).map((step) => viewOf(step, conversation))

function shownOf(conversation: AgentPorts['conversation']): Step[] {
  const { annotations, overlay } = conversation
  const isSummarised = ({ id }: Step): boolean => overlay !== undefined && id >= overlay.from && id <= overlay.to
  return conversation.steps().filter((step) => annotations?.hiddenBy(step.id) === undefined && !isSummarised(step))
}

function viewOf(step: Step, conversation: AgentPorts['conversation']): StepView {
  const fixed = whyNotHiddenUnasked(conversation, step)
  return {
    id: formatNodeId(step.id),
    role: step.nodes[0]!.message.role === 'user' ? 'user' : 'assistant',
    tokens: Math.round(tokensOfStep(step, conversation) * conversation.correction),
    ...(fixed === undefined ? {} : { fixed }),
    text: () => cutMiddle([...piecesOf(step.nodes)].join('\n'), longestText),
  }
}

function fixedTokensOf({ conversation, frame }: AgentPorts): number {
  const { path, annotations, overlay, notes, correction } = conversation
  const pinned = path.filter(({ stepId, message }) => message.role !== 'user' && annotations?.isPinned(stepId) === true)
  const tokens =
    frame.frameTokens +
    trunkSums(conversation).user +
    pinned.reduce((sum, node) => sum + tokensOfShown(node, conversation), 0) +
    (overlay?.tokens ?? 0) +
    notes.shown
  return Math.round(tokens * correction)
}

/** Returns the stall that ends with the newest step: the one in the log, or one by the default rules. */
function stallNow({ conversation, definition }: AgentPorts): Stall | undefined {
  return stallOf(conversation, definition.braking?.stall?.rules ?? defaultStallRules)
}

function answerTo(
  ports: AgentPorts,
  { model, system, text, steps = [], maxTokens = defaultAnswerTokens }: Question,
  how: Limits,
): Promise<Answered> {
  const asked = { system, maxTokens, ...how }
  const ids = new Set(steps.map(({ id }) => id))
  const span = ids.size === 0 ? [] : shownOf(ports.conversation).filter(({ id }) => ids.has(formatNodeId(id)))
  // Where the model does not see one of them, it needs the text.
  if (model !== undefined || span.length === 0 || span.length < ids.size)
    return askModel(through(ports.gate(), model ?? ports.frame.model), { ...asked, text, clock: ports.clock })
  return askAbout(ports, { ...asked, span: span.flatMap(({ nodes }) => nodes), text: () => text })
}

async function runAgent(
  ports: AgentPorts,
  agent: Runnable,
  prompt: string,
  how: Limits,
  spending: Spending,
): Promise<Answer> {
  if (!isAgentDefinition(agent))
    throw new RuntimeError('INVALID_OPTION', 'A policy runs agents made by defineAgent, and no others.')
  let spent: (() => Spent) | undefined
  const onStart = (soFar: () => Spent): void => void spending.running.add((spent = soFar))
  const ran = await ports.runIncognito(agent, prompt, { ...how, onStart })
  // One that was cancelled stays among those that run: what it used is never told otherwise.
  if (spent !== undefined) spending.running.delete(spent)
  pay(spending, ran)
  const { text, output, problem } = ran
  if (problem !== undefined) throw new Error(`agent "${agent.name}": ${problem}`)
  return { text, ...(output === undefined ? {} : { output }) }
}

function pay(spending: Spending, { usage, costUsd }: Pick<Spent, 'usage' | 'costUsd'>): void {
  spending.usage = addUsage(spending.usage, usage)
  spending.costUsd += costUsd
}

export const noSpending = (): Spending => ({ usage: noUsage, costUsd: 0, running: new Set() })

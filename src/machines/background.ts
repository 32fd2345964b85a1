import { effectsIn, type CallEffects } from '../protocol/callEffects.ts'
import { messageOf } from '../protocol/errors.ts'
import type { BackgroundEnd } from '../protocol/parts/background/backgroundRecords.ts'
import type { PlainBlock } from '../protocol/messages.ts'
import type { QueueName } from '../protocol/runs/queue.ts'
import type { AgentContext, AgentInput, CallState, EventOfType } from './agentTypes.ts'
import type { CallReporter } from './reporters.ts'
import { reportId } from './callFacts.ts'
import type { Draft } from './draft.ts'
import type { CallOutput } from './effectTypes.ts'
import { enqueueMessage } from './queues.ts'

type Known = Pick<AgentContext, 'reporters'>
type Outcome = CallEffects & Pick<CallOutput, 'content' | 'isError' | 'data' | 'dataApart' | 'hook'>

/** Returns the calls that work in the background, oldest first. Pure. */
export const backgroundCalls = ({ reporters }: Known): readonly CallReporter[] =>
  reporters.filter((one): one is CallReporter => one.kind === 'call')

/** Returns true if a call goes to the background once it starts. Pure. */
export function isBackground(
  { policy }: Pick<AgentContext, 'policy'>,
  { name, input, misfits }: Pick<CallState, 'name' | 'input' | 'misfits'>,
): boolean {
  const { background } = policy
  if (background === undefined || misfits === true) return false
  return background.always.includes(name) || (background.choice.includes(name) && isChosen(input))
}

const isChosen = (input: unknown): boolean => (input as { readonly background?: unknown } | null)?.background === true

/** Returns the background id for a call that goes there next. A call that a crash cut off before its receipt keeps its id. Pure. */
export const nextBackgroundId = ({ backgrounds = 0 }: Pick<AgentContext, 'backgrounds'>, call: CallState): string =>
  call.background ?? `b${backgrounds + 1}`

/** Returns the reason why no more calls may go to the background, or `undefined` if they may. Pure. */
export function whyNoMore({ reporters, policy }: Pick<AgentContext, 'reporters' | 'policy'>): string | undefined {
  const working = backgroundCalls({ reporters })
  const { max } = policy.background!
  if (working.length < max) return undefined
  const ids = working.map(({ id, name }) => `${id} (${name})`).join(', ')
  return `Not started: ${max} calls work in the background, the most allowed: ${ids}. Wait for one with wait_for, or end one with cancel_call.`
}

/** Returns the result of a call that continues in the background. */
export const receiptOf = (id: string): PlainBlock[] => [
  {
    type: 'text',
    text: `Started as ${id}. Its result will come as a message; wait_for waits for it, check_call shows how far it is, cancel_call ends it.`,
  },
]

/** Returns the first free child id. Ids are reused by position, like those of calls. */
function freeSlot(taken: AgentContext['background']): string {
  let number = 0
  while (taken.some(({ slot }) => slot === `background.${number}`)) number += 1
  return `background.${number}`
}

const isHere = ({ context }: Draft, { key }: Pick<CallReporter, 'key'>): boolean =>
  context.background.some((one) => one.key === key)

/** Records a question that the tool of a background call asks people, whatever the agent does meanwhile. */
export function askInBackground(draft: Draft, { key, question }: EventOfType<'ask'>): void {
  const reporter = backgroundCalls(draft.context).find((one) => one.key === key)
  if (reporter === undefined || !isHere(draft, reporter) || reporter.question !== undefined) return
  const { id: background, callId, name, input } = reporter
  draft.record({ type: 'question.asked', ...draft.at, background, callId, name, input, ...question })
}

/** Records the answer to a background call's question. A decision of another kind changes nothing. */
export function decideInBackground(draft: Draft, event: EventOfType<'decide'>): void {
  const reporter = backgroundCalls(draft.context).find(({ callId }) => callId === event.callId)
  if (reporter?.question === undefined || (event.decision !== 'answer' && event.decision !== 'deny')) return
  const { id: background, callId, question } = reporter
  const { decision, requestId } = event
  draft.record({
    type: 'question.answered',
    ...draft.at,
    background,
    callId,
    key: question.key,
    decision,
    ...(event.decision === 'answer'
      ? { value: event.value }
      : event.reason === undefined
        ? {}
        : { reason: event.reason }),
    // Its process is gone: the call begins again, with what it was told before.
    ...(isHere(draft, reporter) ? {} : { again: true }),
    ...(requestId === undefined ? {} : { requestId }),
  })
  if (!draft.context.isAsleep) startBackground(draft)
}

/** Starts every background call that does not run here: one that is new, or that a dead process left behind and that may run again. */
export function startBackground(draft: Draft): void {
  for (const reporter of backgroundCalls(draft.context)) {
    const { key, id, runId, turnIndex, callId, name, input, reported, question, answers } = reporter
    const { agentId, background } = draft.context
    // One that a dead process left asking begins again once it is answered.
    if ((reported ?? question) !== undefined || isHere(draft, reporter)) continue
    const slot = freeSlot(background)
    draft.set({ background: [...background, { key, slot }] })
    const said = answers === undefined ? {} : { answers }
    const called = { agentId, runId, turnIndex, key, callId, name, input, background: id, ...said }
    draft.children.push({ type: 'start', src: 'runTool', id: slot, input: called })
  }
}

/** Accepts the outcome of a background call. One that is no longer awaited, or comes late, changes nothing. */
export function settleBackground(draft: Draft, output: CallOutput | null, queue: QueueName): void {
  if (output === null) return
  const reporter = backgroundCalls(draft.context).find(({ key }) => key === output.key)
  if (reporter === undefined) return
  const { notStarted } = output
  const text = `It could not be started: ${notStarted?.message}`
  report(
    draft,
    reporter,
    notStarted === undefined ? output : { content: [{ type: 'text', text }], isError: true },
    queue,
  )
}

/** Reports the failure of a background call whose runner crashed. */
export function failBackground(
  draft: Draft,
  { actorId, error }: EventOfType<'xstate.error.actor.background.0'>,
  queue: QueueName,
): void {
  const key = draft.context.background.find(({ slot }) => slot === actorId)?.key
  const reporter = backgroundCalls(draft.context).find((one) => one.key === key)
  if (reporter === undefined) return
  report(
    draft,
    reporter,
    { content: [{ type: 'text', text: `The tool failed: ${messageOf(error)}` }], isError: true },
    queue,
  )
}

const texts: { readonly [E in BackgroundEnd]: string } = {
  aborted: 'Aborted while it ran: what it did so far was not undone.',
  cancelled: 'Ended by cancel_call: what it did so far was not undone.',
  interrupted: 'Interrupted: it is not known whether it happened.',
}

function endOne(draft: Draft, reporter: CallReporter, ended: BackgroundEnd, queue: QueueName): void {
  report(draft, reporter, { content: [{ type: 'text', text: texts[ended] }], isError: true, ended }, queue)
}

/**
 * Ends all background calls, or those that `isMeant` selects. The model is told in the next run, because an abort begins none.
 */
export function endBackground(
  draft: Draft,
  ended: BackgroundEnd,
  isMeant: (call: CallReporter) => boolean = () => true,
): void {
  for (const reporter of backgroundCalls(draft.context).filter(isMeant)) endOne(draft, reporter, ended, 'followUps')
}

/** Ends one background call, if it is still at work. */
export function cancelBackground(draft: Draft, { id }: { readonly id: string }): void {
  const reporter = backgroundCalls(draft.context).find((one) => one.id === id)
  if (reporter !== undefined) endOne(draft, reporter, 'cancelled', 'followUps')
}

/**
 * Recovers background calls after a crash: reports those that may or may not have happened, and delivers reports
 * whose messages the log lacks. The others start again once the agent is awake.
 */
export function recoverBackground(draft: Draft, { mayRerun, redacted }: NonNullable<AgentInput['restored']>): void {
  const { run, pause } = draft.context
  const queue = run === null && pause === null ? 'prompts' : 'followUps'
  for (const reporter of backgroundCalls(draft.context)) {
    const { reported, name, callId, question } = reporter
    if (reported !== undefined) tell(draft, reporter, reported, reported.ended === undefined ? queue : 'followUps')
    else if (redacted.includes(callId) || (question === undefined && !mayRerun.includes(name)))
      endOne(draft, reporter, 'interrupted', queue)
  }
}

/** Records the end of a background call, and tells the model. */
function report(
  draft: Draft,
  reporter: CallReporter,
  outcome: Outcome & { readonly ended?: BackgroundEnd },
  queue: QueueName,
): void {
  const { callId, key, id, name } = reporter
  const { content, isError, ended, data, dataApart, hook } = outcome
  draft.record({
    type: 'call.reported',
    ...draft.at,
    callId,
    key,
    id,
    name,
    content,
    isError,
    ...(ended === undefined ? {} : { ended }),
    ...(data === undefined ? {} : { data }),
    ...(dataApart === undefined ? {} : { dataApart }),
    ...effectsIn(outcome),
    ...(hook === undefined ? {} : { hook }),
  })
  release(draft, key)
  tell(draft, reporter, outcome, queue)
}

/** Stops the runners of calls that a revert has abandoned, which report nothing any more. */
export function releaseAbandoned(draft: Draft): void {
  const keys = draft.context.reporters.map(({ key }) => key)
  for (const { key } of draft.context.background) if (!keys.includes(key)) release(draft, key)
}

/** Stops the runner of a background call and frees its slot, if the call runs here. */
function release(draft: Draft, key: string): void {
  const { background } = draft.context
  const held = background.find((one) => one.key === key)
  if (held === undefined) return
  draft.children.push({ type: 'stop', id: held.slot })
  draft.set({ background: background.filter((one) => one !== held) })
}

function tell(
  draft: Draft,
  { key, id, name, callId }: CallReporter,
  { content, isError }: Pick<Outcome, 'content' | 'isError'>,
  queue: QueueName,
): void {
  const { agentId } = draft.context
  const head = `Report of ${id}, your call of ${name}${isError ? ', which failed' : ''}:`
  const [first, ...rest] = content
  const blocks: readonly PlainBlock[] =
    first?.type === 'text'
      ? [{ type: 'text', text: `${head}\n\n${first.text}` }, ...rest]
      : [{ type: 'text', text: head }, ...content]
  const provenance = { type: 'report', agentId, name, callId, background: id } as const
  enqueueMessage(draft, queue, { id: reportId(key), content: blocks, provenance })
}

import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import type { AgentTool, Wanted } from './agentTool.ts'
import { answerOf } from './answers.ts'
import { answerAgent, callAgent, type Caller, type Outcome, type Place } from './callAgent.ts'
import { asShown, fitsForm, formFor, type Answers, type Taken } from './people.ts'

/** A call that may take several rounds, in each of which people are asked. */
export interface Rounds {
  readonly tool: AgentTool
  readonly caller: Caller
  readonly ctx: ServerContext
  /** True if people can be asked through the client. */
  readonly mayAsk: boolean
  /** Id of the call's task. */
  readonly taskId?: string
}

type Asked = Exclude<Wanted, { type: 'wrong' }>
type Round = Outcome & { readonly taken?: Taken }

/** Maximum number of times in a row that people are asked before an answer is accepted. */
const maxTries = 5

/** Time for which answers to a shown form are accepted, in milliseconds. */
const heldMs = 24 * 60 * 60 * 1_000

/** Schema of the state that a client returns with its answers. Names in it are looked up again, within the client's reach. */
const stateSchema = onlyFields({
  session: z.string(),
  requestId: z.string().optional(),
  tries: z.int().nonnegative(),
  /** Hashes of the shown entries, by key. Only these entries can be answered. */
  shown: z.record(z.string(), z.string()),
})
export type State = z.infer<typeof stateSchema>

/** Purpose of a call's sealed state, which is valid for one agent's tool only. */
const purposeOf = ({ definition }: AgentTool): string => `mcp requestState ${definition.name}`

/**
 * Returns the state that a client sent back; `undefined` if there is none. If it was not issued to this client for this
 * tool, or is too old, only its session is used, which the client could name anyway, and people are asked again.
 */
export function readState(given: unknown, tool: AgentTool, { sealed }: AgentAccess): State | undefined | 'unreadable' {
  if (given === undefined) return undefined
  const back = sealed.open(purposeOf(tool), given)
  const read = stateSchema.safeParse(back?.value)
  if (!read.success) return 'unreadable'
  if (back?.isOurs === true) return read.data
  const { session, tries } = read.data
  return { session, tries, shown: {} }
}

/** Runs the next round of a call and ends the call: the client asks people, and calls again with the answers. */
export async function inOneRound(
  { tool, caller, ctx, mayAsk }: Rounds,
  wanted: Asked,
  state: State | undefined,
): Promise<CallToolResult | InputRequiredResult> {
  const round =
    state === undefined
      ? await callAgent(tool, wanted, caller, mayAsk)
      : await answerAgent(tool, placeOf(state), mayAsk ? answersTo(state.shown, ctx.mcpReq.inputResponses) : {}, caller)
  const tries = triesAfter(round, state?.tries ?? 0)
  if (round.type !== 'waiting' || !mayAsk || tries >= maxTries) return answerOf(round)
  const questions = questionsOf(round, caller)
  if (questions.length === 0) return answerOf(round)
  const next: State = {
    ...placeOf(round),
    tries,
    shown: Object.fromEntries(questions.map((one) => [one.key, asShown(one)])),
  }
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(
      questions.map((one) => [one.key, { method: 'elicitation/create', params: formFor(one) }]),
    ),
    requestState: caller.access.sealed.seal(purposeOf(tool), next, heldMs),
  }
}

/** Runs all rounds within one call, which stays open: the server asks people. */
export const inAllRounds = async (rounds: Rounds, wanted: Asked): Promise<CallToolResult> =>
  answerOf(await inRounds(rounds, () => callAgent(rounds.tool, wanted, rounds.caller, rounds.mayAsk)))

/** Runs all rounds, from the start of the first to the outcome of the last. */
export async function inRounds(
  { tool, caller, ctx, mayAsk, taskId }: Rounds,
  begin: () => Promise<Round>,
): Promise<Outcome> {
  let round = await begin()
  if (!mayAsk) return round
  for (let tries = 0; round.type === 'waiting' && tries < maxTries && !caller.signal.aborted;) {
    const questions = questionsOf(round, caller)
    const answers = questions.length === 0 ? 'not asked' : await ask(ctx, round.agent, questions, taskId)
    if (answers === 'not asked') break
    round = await answerAgent(tool, placeOf(round), answers, caller)
    tries = triesAfter(round, tries)
  }
  return round
}

const placeOf = ({ session, requestId }: Pick<State, 'session' | 'requestId'>): Place => ({ session, requestId })

const triesAfter = ({ taken }: Round, tries: number): number => (taken === undefined || taken.count > 0 ? 0 : tries + 1)

/** Returns people's answers, each with the hash of the entry that they were shown. */
const answersTo = (shown: State['shown'], given: object | undefined): Answers =>
  Object.fromEntries(
    Object.entries(given ?? {}).flatMap(([key, answer]) =>
      Object.hasOwn(shown, key) ? [[key, { answer: answer as unknown, shown: shown[key]! }]] : [],
    ),
  )

/** Returns the questions that people may decide, with the problems of their last answers, except those that a form cannot show as a whole. */
function questionsOf({ pending, taken }: Extract<Round, { type: 'waiting' }>, { access }: Caller): readonly Pending[] {
  const mayBeAsked = pending.filter(({ kind }) => access.may(kind === 'approval' ? 'approve' : 'answer.own'))
  return mayBeAsked.filter(fitsForm).map((one) => {
    const problem = taken?.problems.get(one.key)
    return one.kind === 'question' && problem !== undefined ? { ...one, problem } : one
  })
}

/** Returns the metadata that relates a request or an answer to a task. */
export const relatedTo = (taskId: string): { [key: string]: unknown } => ({
  'io.modelcontextprotocol/related-task': { taskId },
})

/** Maximum delay of a timer, since people may take any time. */
const longest = 2_147_483_647

/** Asks the questions one after another, and withdraws one that is decided elsewhere meanwhile. `not asked`: the client cannot ask. */
async function ask(
  ctx: ServerContext,
  agent: DrivenAgent,
  questions: readonly Pending[],
  taskId: string | undefined,
): Promise<Answers | 'not asked'> {
  if (questions.length === 0) return 'not asked'
  const answers: Record<string, Answers[string]> = {}
  for (const question of questions) {
    const settled = new AbortController()
    const unsubscribe = agent.subscribe((event) => {
      if (isDecided(event, question.key)) settled.abort(new Error('it was decided elsewhere'))
    })
    try {
      const signal = AbortSignal.any([ctx.mcpReq.signal, settled.signal])
      const options = { signal, timeout: longest, relatedRequestId: ctx.mcpReq.id }
      // Not `elicitInput`, which rejects an answer that breaks the form's schema: people are told what was wrong with it.
      const params = { ...formFor(question), ...(taskId === undefined ? {} : { _meta: relatedTo(taskId) }) }
      const answer = await ctx.mcpReq.send({ method: 'elicitation/create', params }, options)
      answers[question.key] = { answer, shown: asShown(question) }
    } catch {
      if (!settled.signal.aborted) return Object.keys(answers).length === 0 ? 'not asked' : answers
    } finally {
      unsubscribe()
    }
  }
  return answers
}

/** Returns true if an event shows that a decision is no longer needed. */
const isDecided = (event: AgentEvent, key: string): boolean =>
  (event.type === 'approval.decided' || event.type === 'question.answered' || event.type === 'tool.end') &&
  (event.key === key || key.startsWith(`${event.key}/`))

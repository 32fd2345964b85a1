import { isWait } from '../../../src/protocol/runs/waits.ts'
import type { RunAgentInput } from '@ag-ui/core'
import type { AgentCommand } from '../../../src/protocol/bridge/commands.ts'
import { decided } from '../../../src/protocol/bridge/commandRules.ts'
import { hasCode, RuntimeError } from '../../../src/protocol/errors.ts'
import { type DrivenAgent, isCutOff } from '../../bridge/src/server/drivenAgent.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { nameOf, rightsFor, saidAs } from '../../bridge/src/server/commandRights.ts'
import { mustBeOf } from '../../bridge/src/server/oneDefinition.ts'
import { AgUiRun } from './agUiRun.ts'
import { clientResults, decisionFor, notPending, passedOver, type Decided } from './decisions.ts'
import { endingOf } from './endings.ts'
import { pauseInterruptId, requestIdOf } from './ids.ts'
import { withPastRun, type PastRun } from './pastRun.ts'
import { propOf } from './readInput.ts'
import { blocksOf, newContext, newMessages } from './userInput.ts'
import type { Thread } from './thread.ts'
import { agree, unsaid } from './threadMessages.ts'
import { changedBy } from './threadState.ts'
import { threadOf, type Rules } from './threads.ts'
import { watchRun } from './watchRun.ts'

/** Starts the run a client asks for, or finds it. */
export type OpenRun = (input: RunAgentInput) => Promise<AgUiRun>

const commands: ReadonlySet<unknown> = new Set(['abort', 'connect', undefined])

/**
 * Starts the run a client asks for, or finds it: the same `runId` never runs twice, though it may answer what its first part asked. Rejects, without
 * any effect, with `BRIDGE_FORBIDDEN`, `INVALID_OPTION`, `INVALID_CONTENT`, `CALL_NOT_PENDING`, `AGENT_NOT_FOUND` or what `Agent.dispatch` throws.
 */
export async function openRun(access: AgentAccess, input: RunAgentInput, rules: Rules): Promise<AgUiRun> {
  const command = propOf(input, 'command')
  if (!commands.has(command)) {
    throw new RuntimeError(
      'INVALID_OPTION',
      `forwardedProps.command: ${JSON.stringify(command)} is none; there are "abort" and "connect".`,
    )
  }
  if (command === 'connect') return await watchRun(access, input, rules)
  access.must('talk', 'run')
  await checkResume(access, input)
  const thread = threadOf(await agentOf(access, input, rules.definition, command === undefined), rules)
  const known = thread.run(input.runId)
  if (known !== undefined && !isAnswer(thread, input)) return known
  // No await after the log was read: of two requests with the same runId the second finds the first.
  const opened = await withPastRun({ access, thread, runId: input.runId }, (past) => {
    if (!isAnswer(thread, input)) {
      const found = thread.run(input.runId)
      if (found !== undefined) return found
      if (past !== undefined) return recall(thread, input, past)
    }
    return begin(thread, input, { access, isAbort: command === 'abort' })
  })
  await opened.taken
  return opened
}

/** True if the input answers something that waits: CopilotKit answers under the `runId` of the run that asked. A repeated answer has no effect. */
function isAnswer({ agent }: Thread, { resume = [] }: RunAgentInput): boolean {
  const waiting = new Set(agent.pending().map(({ key }) => key))
  if (agent.pause !== null && !isWait(agent.pause)) waiting.add(pauseInterruptId(agent.id))
  return resume.some(({ interruptId }) => waiting.has(interruptId))
}

/** Checks the client's decisions before the agent is woken for them. Rejects as `openRun` does. */
async function checkResume(access: AgentAccess, { threadId, runId, resume = [] }: RunAgentInput): Promise<void> {
  if (resume.length === 0) return
  const agent = await access.reading(threadId).catch((thrown: unknown) => {
    if (hasCode(thrown, 'AGENT_NOT_FOUND')) return undefined
    throw thrown
  })
  if (agent === undefined) return
  const waiting = new Set(agent.pending().map(({ key }) => key))
  const isAnswered = !resume.some(({ interruptId }) => waiting.has(interruptId))
  if (isAnswered && (await agent.wasAsked(requestIdOf(runId)))) return
  for (const entry of resume) {
    if (waiting.has(entry.interruptId)) mustDecide(access, agent, decisionFor(agent, entry))
    // At rest, what was cut off asks again once it goes on.
    else if (agent.isPlaced && entry.status !== 'cancelled') access.must(rightsFor['agent.resume'], 'resume')
  }
}

const mustDecide = (access: AgentAccess, agent: DrivenAgent, { callId, decision }: Decided): void =>
  access.mustDecide({ callId, decision: nameOf(decision) }, agent)

/** Recalls a run that is in the log but not in this thread: it continues, or has ended. */
function recall(thread: Thread, { runId, messages, tools }: RunAgentInput, past: PastRun): AgUiRun {
  const { activity } = thread
  const { agentRunId, agentRunIds, end, usage, queue } = past
  thread.adoptMessageIds(messages, agentRunIds)
  const messageIds = queue === 'waiting' ? newMessages(messages, thread).map(({ id }) => id) : []
  const run = new AgUiRun(activity, runId, { messageIds, agentRunId, usage, tools: namesOf(tools) })
  run.takeBacklog()
  thread.begin(run, () => {
    if (end !== undefined && !isCutOff(thread.agent, end))
      run.finish(endingOf(thread.agent, end, activity.lastText(agentRunIds)))
    else if (agentRunId !== undefined) for (const [id, child] of past.children) activity.children.set(id, child)
    // Of a run that only answered an interrupt, the log has just the answer.
    else if (queue !== 'waiting') run.finish({ type: queue === 'dropped' ? 'cancelled' : 'success' })
    return undefined
  })
  return run
}

async function agentOf(
  access: AgentAccess,
  { threadId, ...input }: RunAgentInput,
  only: string | undefined,
  maySpawn: boolean,
): Promise<DrivenAgent> {
  const asked = propOf({ threadId, ...input }, 'definition')
  if (asked !== undefined && typeof asked !== 'string')
    throw new RuntimeError('INVALID_OPTION', 'forwardedProps.definition is no name.')
  if (only !== undefined && asked !== undefined && asked !== only)
    throw new RuntimeError(
      'INVALID_OPTION',
      `forwardedProps.definition: this is for threads of "${only}", not "${asked}".`,
    )
  const definition = asked ?? only ?? access.definitions[0] ?? ''
  const agent = await access.driven(threadId).catch(async (thrown: unknown) => {
    if (!maySpawn || !hasCode(thrown, 'AGENT_NOT_FOUND')) throw thrown
    return await access.begin(definition, { id: threadId }).catch((refused: unknown) => {
      // Another request was faster.
      if (hasCode(refused, 'AGENT_EXISTS')) return access.driven(threadId)
      throw refused
    })
  })
  mustBeOf(only, 'threadId', agent)
  if (asked === undefined || asked === agent.definition) return agent
  throw new RuntimeError(
    'INVALID_OPTION',
    `forwardedProps.definition: thread "${threadId}" is a "${agent.definition}", not a "${asked}".`,
  )
}

interface Beginning {
  readonly access: AgentAccess
  readonly isAbort: boolean
}

function begin(thread: Thread, input: RunAgentInput, { access, isAbort }: Beginning): AgUiRun {
  access.checkAdmitted()
  if (isAbort) return abort(thread, input)
  const added = newMessages(input.messages, thread)
  const messageIds = added.map(({ id }) => id)
  const contents = saidAs(access, added.map(blocksOf))
  const content = contents.pop()
  const context = [
    ...newContext(input.context, thread.agent.conversation),
    ...contents.map((earlier) => ({ content: earlier })),
  ]
  const prompt = content === undefined ? undefined : { content, ...(context.length === 0 ? {} : { context }) }
  const { agent } = thread
  const results = [
    ...clientResults(agent, input.messages),
    ...(prompt === undefined ? [] : passedOver(agent, input, namesOf(input.tools))),
  ]
  if ((input.resume ?? []).length + results.length > 0)
    return resumeRun(thread, input, { access, results, messageIds, prompt })
  const waiting = agent.pending()
  if (waiting.length > 0) {
    const keys = waiting.map(({ key }) => key).join(', ')
    throw new RuntimeError('INVALID_OPTION', `resume: the thread waits for decisions, which come first: ${keys}.`)
  }
  if (prompt === undefined)
    throw new RuntimeError('INVALID_CONTENT', 'messages: there is no user message that the thread does not have.')
  const isCurrent = (): boolean => agree(input.messages, [...thread.activity.messages(), ...unsaid(messageIds)])
  const changed = changedBy(agent, input.state, isCurrent)
  const run = new AgUiRun(thread.activity, input.runId, { messageIds, tools: namesOf(input.tools) })
  // A state that cannot be taken refuses the run, before anything has begun.
  if (changed !== undefined)
    agent.dispatch(
      { type: 'agent.state', agentId: agent.id, ...changed },
      { requestId: `${requestIdOf(input.runId)}/state` },
    )
  thread.begin(run, () =>
    agent.dispatch({ type: 'agent.prompt', agentId: agent.id, ...prompt }, { requestId: requestIdOf(input.runId) }),
  )
  return run
}

/** Aborts the agent. The aborted runs inform their own clients. */
function abort(thread: Thread, { runId }: RunAgentInput): AgUiRun {
  const run = new AgUiRun(thread.activity, runId, { isContinuation: true })
  thread.begin(run, () => {
    run.finish({ type: 'success' })
    thread.agent.abort()
    return undefined
  })
  return run
}

interface Prompt {
  readonly content: ReturnType<typeof blocksOf>
  readonly context?: ReturnType<typeof newContext>
}

const namesOf = (tools: RunAgentInput['tools']): ReadonlySet<string> => new Set(tools.map(({ name }) => name))

interface Resumption extends Pick<Beginning, 'access'> {
  /** Results of the client's tools. */
  readonly results: readonly Decided[]
  readonly messageIds: readonly string[]
  readonly prompt: Prompt | undefined
}

/** Answers what ended the previous run: interrupts, and calls of the client's tools. */
function resumeRun(
  thread: Thread,
  { runId, resume = [], tools }: RunAgentInput,
  { access, results, messageIds, prompt }: Resumption,
): AgUiRun {
  const { agent } = thread
  const agentId = agent.id
  const isPaused = agent.pause !== null && !isWait(agent.pause)
  const answered = new Set(resume.map(({ interruptId }) => interruptId))
  if (answered.size < resume.length) throw new RuntimeError('INVALID_OPTION', 'resume: a question is answered twice.')
  const pause = resume.find(({ interruptId }) => interruptId === pauseInterruptId(agentId))
  const others = resume.filter((entry) => entry !== pause)
  // After a restart, the answer to a call also resumes the paused run: the call will be asked about again.
  const isAskedAnew = pause === undefined && agent.pause?.type === 'interrupted'
  const decisions = isAskedAnew
    ? []
    : [...others.map((entry) => decisionFor(agent, entry)), ...results.filter(({ callId }) => !answered.has(callId))]
  const isGivenUp = isPaused && (pause ?? resume[0])?.status === 'cancelled'
  if (pause !== undefined && !isPaused) throw notPending(pause)
  const isPrompt = isGivenUp && prompt !== undefined
  // Before any of it has an effect.
  for (const decision of decisions) mustDecide(access, agent, decision)
  if (isPaused && !isGivenUp) access.must(rightsFor['agent.resume'], 'resume')
  if (prompt?.context !== undefined) access.must('control', 'context')
  const run = new AgUiRun(thread.activity, runId, { messageIds, isContinuation: !isPrompt, tools: namesOf(tools) })
  const options = { requestId: requestIdOf(runId) }
  thread.begin(run, () => {
    const followUp = (): void => {
      if (prompt !== undefined)
        agent.dispatch({ type: 'agent.followUp', agentId, ...prompt }, { requestId: `${requestIdOf(runId)}/said` })
    }
    // First what may be refused: a decision cannot be undone.
    if (!isPaused) followUp()
    for (const { callId, decision, how } of decisions) {
      const command = { type: 'agent.decide', agentId, callId, ...decided(decision, how) } as AgentCommand
      agent.dispatch(command, options)
    }
    if (isGivenUp) {
      agent.abort()
      if (prompt === undefined) run.finish({ type: 'cancelled' })
      else return agent.dispatch({ type: 'agent.prompt', agentId, ...prompt }, options)
      return undefined
    }
    const asked = isPaused ? agent.dispatch({ type: 'agent.resume', agentId }, options) : undefined
    if (isPaused) followUp()
    return asked
  })
  return run
}

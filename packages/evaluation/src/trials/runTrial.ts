import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceTools } from '../../../tools/src/workspace/workspaceTools.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { errorInfo, type ErrorInfo, messageOf, toErrorInfo } from '../../../../src/protocol/errors.ts'
import { totalTokens } from '../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Limits } from '../../../../src/protocol/runs/runLimits.ts'
import type { ErasableStore } from '../../../../src/protocol/ports/store.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { runChecks, type CheckPorts } from '../checks/runChecks.ts'
import { found, scoreOf } from '../checks/found.ts'
import { JudgeFailure } from '../checks/judge.ts'
import type { PlannedTrial } from '../plan.ts'
import type { Score, TrialMetrics, TrialOutcome, TrialResult } from '../results.ts'
import { isPromise } from '../givenBy.ts'
import { commandEnv, runShell, type Shell } from '../sandbox.ts'
import type { ScoredTrial, SuiteDefinition, TrialPlace } from '../suite/defineSuite.ts'
import type { Suite, SuiteTask } from '../suite/suite.ts'
import type { TaskImage, TaskLimits } from '../suite/task.ts'
import { outcomeOf, outsideError } from './outcome.ts'
import { lastAnswer, readTree } from './readTree.ts'
import { freshFolder, layFiles, layOver, tryRemoveFolder } from './workspace.ts'

const workPrefix = '.work-'

/** Returns the folder in which an agent works. Its name says nothing about the arm, since the agent may see it. */
export const workFolder = (workspaces: string, key: string): string =>
  join(workspaces, workPrefix + createHash('sha256').update(key).digest('hex').slice(0, 10))

/** Removes the folders of interrupted trials. A folder that cannot be removed is reported where its place is needed. */
export async function removeWorkFolders(workspaces: string): Promise<void> {
  const names = await readdir(workspaces).catch((): string[] => [])
  for (const name of names) if (name.startsWith(workPrefix)) await tryRemoveFolder(join(workspaces, name))
}

/** Ports and settings of trials. */
export interface TrialPorts {
  readonly suite: Suite
  readonly runtime: AgentRuntime
  readonly store: ErasableStore
  /** Folder that holds the folders of trials. */
  readonly workspaces: string
  /** Returns the shell in which commands of a folder run. */
  shellFor(dir: string, image?: TaskImage): Shell
  /** Makes the agent of a trial. */
  define(
    arm: string,
    given: TrialPlace & { readonly dir: string; readonly tools: ReturnType<typeof workspaceTools> },
  ): AgentDefinition
  readonly judge: CheckPorts['judge'] | undefined
  /** Returns the cost of the judge for a trial, in US dollars. */
  judgeUsd(key: string): number | undefined
  /** Called with every agent of a trial at its start, so that its cost is known. The returned function is called at its end. */
  watch(key: string, agent: Agent): () => void
  /** Measures a trial by its logs. */
  measure(logs: readonly (readonly LogRecord[])[], isPriced: boolean): TrialMetrics
}

/** Default limits of a trial, so that an agent that goes round in circles is stopped. */
const usualLimits = { turns: 200, ms: 1_800_000 } as const
const setupTimeoutMs = 600_000
const mostAnswer = 4_000

/** Returns the tools of an agent that works in a trial's folder. */
export const trialTools = (dir: string, { clock, sandbox }: Shell): ReturnType<typeof workspaceTools> =>
  workspaceTools(dir, { clock, env: commandEnv, ...(sandbox === undefined ? {} : { sandbox }) })

/** Results of the agent's work in a trial. */
interface Work {
  readonly result: RunResult | null
  readonly records: ReadonlyMap<string, readonly LogRecord[]>
  readonly metrics: TrialMetrics | null
  readonly error?: ErrorInfo | undefined
}

const noWork: Work = { result: null, records: new Map(), metrics: null }

/**
 * Makes one trial: prepares its folder, lets the agent work, and checks the result. Rejects only if the store of results cannot be written.
 * `undefined`: the trial was aborted, and does not count.
 */
export async function runTrial(
  ports: TrialPorts,
  planned: PlannedTrial,
  task: SuiteTask,
  signal: AbortSignal,
): Promise<TrialResult | undefined> {
  const { key, arm, trial, seed, agentId } = planned
  const dir = workFolder(ports.workspaces, key)
  const shell = ports.shellFor(dir, task.image)
  const startedAt = shell.clock.now()
  const place = { task: task.id, trial, seed }
  let work = noWork
  let scores: readonly Score[] = []
  let error = await prepare(task, dir, ports.shellFor(dir, setupImage(task)), signal)
  if (error === undefined) {
    work = await workOn(ports, planned, task, { dir, shell, signal })
    error = work.error ?? outsideError(work.result)
  }
  if (signal.aborted) return undefined
  const answer = lastAnswer(work.records.get(agentId) ?? [])
  if (error === undefined) {
    try {
      scores = await judged(ports, task, { ...place, arm, dir, answer, ...work, shell, signal })
    } catch (thrown) {
      error = thrown instanceof JudgeFailure ? thrown.info : toErrorInfo(thrown, 'EVALUATION_SETUP')
    }
  }
  if (signal.aborted) return undefined
  const outcome: TrialOutcome = error === undefined ? outcomeOf(scores) : 'error'
  const runError = error ?? work.result?.error
  const judgeUsd = ports.judgeUsd(key)
  return {
    type: 'trial',
    key,
    task: task.id,
    arm,
    trial,
    seed,
    outcome,
    ...(work.result === null ? {} : { stopReason: work.result.stopReason }),
    scores,
    metrics: work.metrics,
    ...(runError === undefined ? {} : { error: runError }),
    ...(judgeUsd === undefined ? {} : { judgeUsd }),
    answer: cutEnd(answer, mostAnswer),
    agentId,
    models: modelsIn(work.records.get(agentId) ?? []),
    startedAt,
    ms: shell.clock.now() - startedAt,
  }
}

/** Returns the image for the setup of a folder: without its mount, so that the image's own files at that place are there too. */
export function setupImage({ image }: SuiteTask): TaskImage | undefined {
  if (image === undefined) return undefined
  const { mount: _, ...unmounted } = image
  return unmounted
}

/** Prepares the folder of a trial. Its errors are not the agent's fault. */
export async function prepare(
  task: SuiteTask,
  dir: string,
  shell: Shell,
  signal: AbortSignal,
): Promise<ErrorInfo | undefined> {
  try {
    await freshFolder(dir)
    await layFiles(dir, task.files)
  } catch (thrown) {
    return toErrorInfo(thrown, 'EVALUATION_SETUP')
  }
  for (const command of task.setup) {
    const { code, output, timedOut } = await runShell(shell, command, { dir, timeoutMs: setupTimeoutMs, signal })
    if (signal.aborted) return undefined
    if (code === 0) continue
    const how = timedOut ? `was killed after ${setupTimeoutMs} ms` : `ended with ${code ?? 'a signal'}`
    return errorInfo('EVALUATION_SETUP', `${JSON.stringify(command)} ${how}: ${output.trim().slice(-1_000)}.`)
  }
  return undefined
}

interface Place {
  readonly dir: string
  readonly shell: Shell
  readonly signal: AbortSignal
}

/** Lets the agent work. */
async function workOn(ports: TrialPorts, planned: PlannedTrial, task: SuiteTask, place: Place): Promise<Work> {
  const { dir, shell, signal } = place
  const { agentId, key, arm, trial, seed } = planned
  let agent: Agent | undefined
  let isPriced = false
  let result: RunResult | null = null
  let unwatch = (): void => {}
  try {
    const definition = ports.define(arm, { task: task.id, trial, seed, dir, tools: trialTools(dir, shell) })
    isPriced = definition.pricing !== null || definition.prices !== null
    agent = (await ports.runtime.spawn(definition, { id: agentId })) as unknown as Agent
    unwatch = ports.watch(key, agent)
    decideAll(agent, { task: task.id, trial, seed }, ports.suite.definition)
    result = await runPrompts(agent, task, place)
  } catch (thrown) {
    return { ...noWork, result, error: toErrorInfo(thrown, 'INTERNAL') }
  } finally {
    await agent?.stop().catch(() => {})
    unwatch()
  }
  if (signal.aborted) return noWork
  try {
    const records = await readTree(ports.store, agentId)
    return { result, records, metrics: ports.measure([...records.values()], isPriced) }
  } catch (thrown) {
    return { ...noWork, result, error: toErrorInfo(thrown, 'INTERNAL') }
  }
}

/** Sends the prompts one after the other, until one of them gets no answer. */
async function runPrompts(
  agent: Agent,
  { prompts, limits }: SuiteTask,
  { shell, signal }: Place,
): Promise<RunResult | null> {
  const startedAt = shell.clock.now()
  let result: RunResult | null = null
  for (const prompt of prompts) {
    const left = limitsLeft(limits, agent, shell.clock.now() - startedAt)
    if (left === undefined || signal.aborted) break
    result = await agent.prompt(prompt, { limits: left, signal }).result
    if (result.stopReason === 'aborted' || result.stopReason === 'error' || result.stopReason === 'paused') break
    await reportersDone(agent, signal)
  }
  return result
}

/** Resolves once agents that work on their own have reported, and the runs started by their reports have ended. */
async function reportersDone(agent: Agent, signal: AbortSignal): Promise<void> {
  for (;;) {
    const settled = await agent.settled({ signal }).catch(() => undefined)
    if (settled?.status !== 'idle' || settled.reporters.length === 0) return
    const next = Promise.withResolvers<void>()
    const unsubscribe = agent.subscribe(({ type }) => type === 'run.end' && next.resolve())
    const stop = (): void => next.resolve()
    signal.addEventListener('abort', stop, { once: true })
    await next.promise
    unsubscribe()
    signal.removeEventListener('abort', stop)
  }
}

/** Returns the remaining limits of a trial; `undefined` if one of them is used up. */
function limitsLeft(given: TaskLimits, { spent }: Agent, ms: number): Limits | undefined {
  const limits = { ...usualLimits, ...given }
  const left = {
    turns: limits.turns - spent.turns,
    ms: limits.ms - ms,
    ...(limits.tokens === undefined ? {} : { tokens: limits.tokens - totalTokens(spent.usage) }),
    ...(limits.costUsd === undefined ? {} : { costUsd: limits.costUsd - spent.costUsd }),
  }
  return Object.values(left).every((rest) => rest > 0) ? left : undefined
}

/** Decides for absent people: calls are approved unless the suite decides otherwise; questions are refused, and calls for clients fail. */
function decideAll(agent: Agent, place: TrialPlace, { decide }: SuiteDefinition): void {
  agent.subscribe((event) => {
    if (event.type === 'approval.requested') {
      const { key, name, input } = event
      const decision = decided(() => decide?.({ ...place, name, input }) ?? 'approve')
      if (decision === 'approve') agent.decide(key, 'approve')
      else agent.decide(key, 'deny', { reason: decision.deny })
    } else if (event.type === 'question.asked')
      agent.decide(event.key, 'deny', { reason: 'Nobody can be asked: this is an evaluation.' })
    else if (event.type === 'call.requested')
      agent.decide(event.key, { error: 'No client carries this out: this is an evaluation.' })
  })
}

/** Returns the decision of `ask`. If it throws, the call is denied, so that the agent does not wait for ever. */
function decided(ask: () => 'approve' | { readonly deny: string }): 'approve' | { readonly deny: string } {
  try {
    const answer = ask()
    if (isPromise(answer))
      return { deny: 'Nobody decided: "decide" of the suite gave a promise; it must not be async.' }
    if (answer === 'approve' || typeof answer?.deny === 'string') return answer
    return { deny: `Nobody decided: "decide" of the suite gave ${JSON.stringify(answer)}.` }
  } catch (thrown) {
    return { deny: `Nobody decided: "decide" of the suite threw: ${messageOf(thrown)}` }
  }
}

interface Judged extends TrialPlace, Work, Place {
  readonly arm: string
  readonly answer: string
}

/** Lays the hidden files over the folder and makes the checks. */
async function judged(ports: TrialPorts, task: SuiteTask, { shell, ...trial }: Judged): Promise<Score[]> {
  return checkTrial(ports.suite, task, { shell, judge: ports.judge }, trial)
}

/** Checks the folder of a trial, with the hidden files in place of any files of the agent; if they cannot be laid there, all checks have failed. */
export async function checkTrial(
  { definition: { scorers = {} } }: Suite,
  task: SuiteTask,
  { shell, judge }: { readonly shell: Shell; readonly judge: CheckPorts['judge'] | undefined },
  trial: Omit<ScoredTrial, 'options' | 'prompts' | 'run'>,
): Promise<Score[]> {
  const { dir, signal } = trial
  const inTheWay = await layOver(dir, task.checkFiles)
  if (inTheWay !== undefined)
    return task.checks.map((check) => scoreOf(check, found(false, `the hidden files could not be laid: ${inTheWay}`)))
  const run: ScoredTrial['run'] = (command, { timeoutMs = 300_000 } = {}) =>
    runShell(shell, command, { dir, timeoutMs, signal })
  const whole = { ...trial, prompts: task.prompts, run }
  return runChecks(task.checks, {
    clock: shell.clock,
    trial: whole,
    scorers,
    ...(judge === undefined ? {} : { judge }),
  })
}

/** Returns the ids of the models that answered, in order: the id given by the provider, else the requested one. Pure. */
export function modelsIn(records: readonly LogRecord[]): readonly string[] {
  const models = new Set<string>()
  for (const record of records) {
    if (record.type !== 'reply.end') continue
    const { model, responseModel } = record.message
    models.add(responseModel === undefined ? model : model.slice(0, model.lastIndexOf(':') + 1) + responseModel)
  }
  return [...models]
}

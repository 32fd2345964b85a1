import type { AgentDefinition, Callee } from '../../actors/define/agentDefinition.ts'
import { describeIssues, messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { TreeAgent } from './treeAgent.ts'

/** Dependencies that the application gave to an agent, and to requests whose runs have not begun. They are not stored elsewhere. */
export class RunDeps {
  #own: unknown
  /** Dependencies of the current run; kept while it is paused. */
  #run: { readonly deps: unknown } | null = null
  /** Dependencies of a run that failed, until the next begins. */
  #failed: { readonly deps: unknown } | null = null
  #byRequest: Map<string, unknown> | undefined

  constructor(own?: unknown) {
    this.#own = own
  }

  /** Dependencies of runs without their own. */
  get own(): unknown {
    return this.#own
  }

  get current(): unknown {
    return this.#run === null ? this.#own : this.#run.deps
  }

  /** Dependencies of a run that continues after a pause or a failure. */
  get resumed(): unknown {
    return (this.#run ?? this.#failed)?.deps ?? this.#own
  }

  /** Replaces the agent's own dependencies, from the next run on. */
  replace(own: unknown): void {
    this.#own = own
  }

  /** Gives dependencies to the run that the request with this id starts. */
  give(requestId: string, deps: unknown): void {
    this.#byRequest ??= new Map()
    this.#byRequest.set(requestId, deps)
  }

  /** Removes the dependencies of a request whose run has ended or will not begin. */
  takeBack(requestId: string): void {
    this.#byRequest?.delete(requestId)
  }

  /** Processes the agent's next record. */
  note(record: LogRecord): void {
    if (record.type === 'run.start') this.#begin(record)
    else if (record.type === 'run.end' && record.stopReason !== 'paused') {
      this.#failed = record.stopReason === 'error' ? this.#run : null
      this.#run = null
    }
  }

  #begin({ requestId, cause }: RecordOf<'run.start'>): void {
    const before = cause === 'resume' ? this.resumed : this.#own
    this.#run = { deps: this.#byRequest?.get(requestId) ?? before }
    this.#failed = null
  }
}

/**
 * Checks dependencies against the definition's schema. They are passed on unchanged, whatever the schema returns.
 *
 * @throws RuntimeError `DEPS_MISSING`, `INVALID_DEPS`
 */
export function checkDeps({ name, deps: schema }: AgentDefinition, deps: unknown, what: string): void {
  if (schema === null) return
  const wrong = wrongIn(schema, deps)
  if (wrong === undefined) return
  if (deps === undefined) throw new RuntimeError('DEPS_MISSING', `${what}: agent "${name}" needs deps, and has none.`)
  throw new RuntimeError('INVALID_DEPS', `${what}: the deps do not fit those of agent "${name}": ${wrong}.`)
}

/** Returns the dependencies that an agent begins with, `undefined` if there are none. Prompts may give others. Throws as `checkDeps` does. */
export function runDepsOf(definition: AgentDefinition, deps: unknown, what: string): RunDeps | undefined {
  if (deps === undefined) return undefined
  checkDeps(definition, deps, what)
  return new RunDeps(deps)
}

/** Gives an agent that may be running other dependencies, from its next run on. Throws as `checkDeps` does. */
export function replaceDeps(
  agent: { readonly view: { readonly definition: AgentDefinition }; given: RunDeps | undefined },
  deps: unknown,
  what: string,
): void {
  if (deps === undefined) return
  checkDeps(agent.view.definition, deps, what)
  agent.given ??= new RunDeps()
  agent.given.replace(deps)
}

function wrongIn(schema: NonNullable<AgentDefinition['deps']>, deps: unknown): string | undefined {
  try {
    const checked = schema.safeParse(deps)
    return checked.success ? undefined : describeIssues(checked.error)
  } catch (thrown) {
    return `they could not be checked: ${messageOf(thrown)}`
  }
}

/**
 * Returns the dependencies of a sub-agent: those of its caller's run, or the result of its entry's function for them. A called sub-agent
 * needs them at once; prompts may give them to others.
 *
 * @throws RuntimeError `DEPS_MISSING`, `INVALID_DEPS`, also if its entry throws
 */
export function childDeps(agent: Callee, parent: TreeAgent, isCalled: boolean): RunDeps | undefined {
  const what = `sub-agent of "${parent.agentId}"`
  const deps = agent.deps === null ? parent.deps : mapped(agent, parent)
  if (isCalled) checkDeps(agent.definition, deps, what)
  return runDepsOf(agent.definition, deps, what)
}

function mapped(agent: Callee, parent: TreeAgent): unknown {
  const { definition, deps } = agent
  const failed = (why: string, options?: ErrorOptions): RuntimeError =>
    new RuntimeError('INVALID_DEPS', `The deps of sub-agent "${definition.name}" could not be made: ${why}.`, options)
  let made: unknown
  try {
    made = deps!(parent.deps as never)
  } catch (thrown) {
    parent.announcer.callbackFailed(`deps for sub-agent "${agent.definition.name}"`, thrown)
    throw failed(messageOf(thrown), { cause: thrown })
  }
  if (made instanceof Promise) {
    made.catch(() => {})
    throw failed('its function returns a promise, which is not waited for')
  }
  return made
}

import type {
  AgentCommand,
  CompactOptions,
  DecideOptions,
  Decision,
  PruneOptions,
  RunOptions,
  SayOptions,
  RevertCommandOptions,
} from '../../protocol/bridge/commands.ts'
import { decided, given, stepsIn } from '../../protocol/bridge/commandRules.ts'
import type { PermissionMode } from '../../protocol/parts/permissions/permissionModes.ts'
import type { PermitOptions } from '../../protocol/parts/permissions/permissionRecords.ts'
import { checkCommand } from '../../protocol/bridge/checkCommand.ts'
import { hasCode } from '../../protocol/errors.ts'
import { endWith, neverRun, signalIn, type Run } from '../../protocol/runs/run.ts'
import type { Content } from '../../protocol/text/saidContent.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import { scheduleCommand, scheduleNamed, type ScheduleOptions } from '../../protocol/parts/schedules/scheduleOptions.ts'

/** Type of the dependencies that prompts may give; for the type checker only. */
declare const takes: unique symbol

/** An agent whose prompts need not give dependencies, as it has its own. */
interface Equipped {
  readonly id: string
  readonly [takes]?: (deps: undefined) => void
}

/** Commands that people and code can give an agent, each a shorthand for a command given to `dispatch`. */
export abstract class AgentCommands<out Output = unknown, in Deps = undefined, out Event = AgentEvent> {
  abstract readonly id: string
  declare readonly [takes]?: (deps: Deps) => void

  /** Executes a command given as data. */
  abstract dispatch(
    command: AgentCommand,
    options?: { readonly requestId?: string; readonly deps?: unknown },
  ): Run | undefined

  /**
   * Starts a run, or queues it if the agent is busy.
   *
   * `deps`: dependencies of the run in place of the agent's own, by reference; they end with the run and are not logged.
   *
   * @throws RuntimeError `INVALID_CONTENT`, `PROMPT_TOO_LARGE`, `QUEUE_FULL`, `AGENT_STOPPED`, `AGENT_PAUSED` (by a failed store),
   * `DEPS_MISSING`, `INVALID_DEPS`; then nothing has happened.
   *
   * @example
   * ```ts
   * const run = agent.prompt('Fix the failing test', { limits: { turns: 10 } })
   * for await (const event of run) if (event.type === 'tool.start') console.log(event.name)
   * const { stopReason, text } = await run.result
   * ```
   */
  prompt(this: Equipped, content: Content, options?: RunOptions & { readonly deps?: undefined }): Run<Output, Event>
  prompt(content: Content, options: RunOptions & { readonly deps: Deps }): Run<Output, Event>
  prompt(content: Content, options?: RunOptions & { readonly deps?: unknown }): Run<Output, Event> {
    return this.#start({ type: 'agent.prompt', agentId: this.id, content }, options)
  }

  /** Aborts the current run and starts a new one, ahead of waiting prompts. Throws as `prompt` does. */
  interrupt(this: Equipped, content: Content, options?: RunOptions & { readonly deps?: undefined }): Run<Output, Event>
  interrupt(content: Content, options: RunOptions & { readonly deps: Deps }): Run<Output, Event>
  interrupt(content: Content, options?: RunOptions & { readonly deps?: unknown }): Run<Output, Event> {
    return this.#start({ type: 'agent.interrupt', agentId: this.id, content }, options)
  }

  /**
   * Sends a message into the current run: it is delivered between tool calls, and calls of that reply that have not started are
   * skipped. If the agent is idle it starts a run. Throws as `prompt` does.
   */
  steer(content: Content, options: SayOptions = {}): void {
    this.dispatch({ type: 'agent.steer', agentId: this.id, content, ...given(options ?? {}) })
  }

  /** Sends a message that is delivered when the current run would otherwise end. If the agent is idle it starts a run. Throws as `prompt` does. */
  followUp(content: Content, options: SayOptions = {}): void {
    this.dispatch({ type: 'agent.followUp', agentId: this.id, content, ...given(options ?? {}) })
  }

  /**
   * Decides a pending call or question, by the `key` of its event; for the agent's own calls the `callId` works too. A call
   * is approved, with other arguments as `{ input }` if need be, or denied. A tool's question gets `{ value }`; a call that
   * a client carries out gets `{ result }` or `{ error }`. Any of them may be denied, with a reason for the model.
   *
   * @throws RuntimeError `CALL_NOT_PENDING` if it is not waiting, or no longer; `ANSWER_INVALID` if the value or the
   * arguments do not fit the schema, and it keeps waiting; `INVALID_OPTION`
   *
   * @example
   * ```ts
   * agent.subscribe((event) => {
   *   if (event.type === 'approval.requested') agent.decide(event.key, 'approve', { input: { path: 'other.txt' } })
   *   if (event.type === 'question.asked') agent.decide(event.key, { value: true })
   *   if (event.type === 'call.requested') agent.decide(event.key, { result: 'done' })
   * })
   * ```
   */
  decide(key: string, decision: Decision, how?: string | DecideOptions): void {
    this.dispatch({ type: 'agent.decide', agentId: this.id, callId: key, ...decided(decision, how) } as AgentCommand)
  }

  /**
   * Continues after a pause, or after a run that ended with `error`, as a new run whose `limits` (default: those of its prompt)
   * count from here; limits that they leave out are the agent's. After an error the model is asked again where it failed:
   * messages and results since the prompt stay, and nothing is said twice. After a store failure it first writes the records that
   * could not be written; if that fails again, the run's result says so. The new run has the deps of the run before, unless
   * others are given; after a restart, the agent's. If nothing was left to do, the run ends with `stop` and without an `output`.
   *
   * @throws RuntimeError `NOT_PAUSED`, `AGENT_STOPPED`, `DEPS_MISSING`, `INVALID_DEPS`
   */
  resume(options?: RunOptions & { readonly deps?: Deps }): Run<Output | undefined, Event> {
    return this.#start({ type: 'agent.resume', agentId: this.id }, options)
  }

  /**
   * Requests a revert to a step, such as `n12`, as the model can. The same drain decides by the same rules, between
   * turns or, if the agent is idle, at once, whatever its `braking`. The outcome is a `revert.applied` event; with
   * `undo`, an `undo.end` event after it reports the outcome of the undo.
   *
   * @throws RuntimeError `INVALID_OPTION`, `QUEUE_FULL`, `AGENT_STOPPED`
   */
  revert(step: string, options: RevertCommandOptions): void {
    this.dispatch({ type: 'agent.revert', agentId: this.id, step, ...given(options ?? {}) } as AgentCommand)
  }

  /**
   * Hides model steps, such as `n12`, or the oldest ones until `tokens` are hidden, with a `memo` in their place.
   * With `mask`, hides only the contents of their results. With `show`, shows hidden and masked `steps` again in
   * their places, if they fit the context. Decided like a revert. The outcome is a `prune.applied` event.
   *
   * @throws RuntimeError `INVALID_OPTION`, `QUEUE_FULL`, `AGENT_STOPPED`
   */
  prune(options: PruneOptions): void {
    this.dispatch({ type: 'agent.prune', agentId: this.id, ...given(options ?? {}) })
  }

  /** Folds all model steps but the newest, pinned and denied ones. Throws as `prune` does, and `BRAKING_OFF` without `braking.fold`. */
  fold(): void {
    this.dispatch({ type: 'agent.fold', agentId: this.id })
  }

  /**
   * Asks a policy of `braking.policies` by name, regardless of its trigger, between turns or, if the agent is idle,
   * at once. The outcome is a `policy.end` event and, if it has a plan, the events of the drains that carry it out.
   *
   * @throws RuntimeError `BRAKING_OFF`, `POLICY_NOT_FOUND`, `INVALID_OPTION`, `QUEUE_FULL`, `AGENT_STOPPED`
   */
  brake(policy: string): void {
    this.dispatch({ type: 'agent.brake', agentId: this.id, policy })
  }

  /**
   * Compacts the conversation, whatever its size and even with `compaction: false`. A summary replaces its middle if
   * that makes it smaller. A `focus` names the facts that the summary is to keep above all, if the strategy supports
   * that. The outcome is a `compaction.end` event.
   *
   * @throws RuntimeError `INVALID_OPTION`, `QUEUE_FULL`, `AGENT_STOPPED`
   */
  compact(options: CompactOptions = {}): void {
    this.dispatch({ type: 'agent.compact', agentId: this.id, ...given(options ?? {}) })
  }

  /**
   * Brings back steps of an abandoned branch, such as `n12` or `['n12', 'n14']`. Copies of them are appended, in the
   * order in which they were made. Nothing is run again, and no person's message is repeated. Decided like a revert,
   * and after all reverts; the outcome is a `graft.applied` event.
   *
   * @throws RuntimeError `INVALID_OPTION`, `QUEUE_FULL`, `AGENT_STOPPED`
   */
  graft(steps: string | readonly string[]): void {
    this.dispatch({ type: 'agent.graft', agentId: this.id, steps: stepsIn(steps) })
  }

  /**
   * Pins a step, such as `n12`, or a summary: no prune, fold, revert or compaction takes it out of the model's sight. Decided between turns
   * or, if the agent is idle, at once; the outcome is a `pin.applied` event.
   *
   * @throws RuntimeError `INVALID_OPTION`, `QUEUE_FULL`, `AGENT_STOPPED`
   */
  pin(step: string): void {
    this.dispatch({ type: 'agent.pin', agentId: this.id, step })
  }

  /** Removes the pin of a step. When it takes effect, and which errors it throws: see `pin`. */
  unpin(step: string): void {
    this.dispatch({ type: 'agent.unpin', agentId: this.id, step })
  }

  /**
   * Prompts the agent at certain times: once (`at`), at an interval (`every`, in milliseconds, at least 1,000), or by a cron expression
   * (`cron`, with `npm install croner`). Each time fires once, however many processes there are, while the agent is live or by
   * `runtime.wake`. Replaces the schedule of this name, unless it is the same. A schedule ends with `unschedule`, when the agent stops,
   * after its last time, and after three consecutive failed runs.
   *
   * @throws RuntimeError `SCHEDULE_INVALID`, `PACKAGE_MISSING`, `INVALID_OPTION`, `AGENT_STOPPED`, `AGENT_PAUSED` (by a failed store)
   *
   * @example
   * ```ts
   * agent.schedule({ id: 'standup', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', prompt: 'Summarise yesterday.' })
   * ```
   */
  schedule(options: ScheduleOptions): void {
    this.dispatch(scheduleCommand(this.id, options))
  }

  /** Removes a schedule. @throws RuntimeError `SCHEDULE_NOT_FOUND`, `AGENT_STOPPED`, `AGENT_PAUSED` */
  unschedule(id: string): void {
    this.dispatch({ type: 'agent.unschedule', agentId: this.id, schedule: scheduleNamed('unschedule', id) })
  }

  /** Fires a schedule now, in addition to its times. Throws as `unschedule` does. */
  fire(id: string): void {
    this.dispatch({ type: 'agent.fire', agentId: this.id, schedule: scheduleNamed('fire', id) })
  }

  /**
   * Adds a rule for calls of this agent and of those below it, such as `run_command(npm test)`: matching calls run,
   * or are denied. A rule that denies takes precedence over all others. The record is a `permission.granted` event.
   *
   * @throws RuntimeError `PERMISSIONS_OFF`, `RULE_INVALID`, `RULE_STORE_MISSING`, `AGENT_STOPPED`, `AGENT_PAUSED`
   */
  permit(rule: string, options: PermitOptions): void {
    this.dispatch({ type: 'agent.permit', agentId: this.id, rule, ...given(options ?? {}) } as AgentCommand)
  }

  /**
   * Removes an added rule, by its id in `permissions().grants`.
   *
   * @throws RuntimeError `PERMISSIONS_OFF`, `RULE_NOT_FOUND`, `AGENT_STOPPED`, `AGENT_PAUSED`
   */
  revoke(grant: string): void {
    this.dispatch({ type: 'agent.revoke', agentId: this.id, grant })
  }

  /**
   * Sets the mode for calls that no rule matches, from the next call on: for this agent, and for those below it
   * unless they are stricter. Calls that people have approved run.
   *
   * @throws RuntimeError `PERMISSIONS_OFF`, `INVALID_OPTION`, `AGENT_STOPPED`, `AGENT_PAUSED`
   */
  setMode(mode: PermissionMode): void {
    this.dispatch({ type: 'agent.mode', agentId: this.id, mode })
  }

  /** Starts a run, whose answers have the type of the agent's output schema. */
  #start(command: AgentCommand, asked: (RunOptions & { readonly deps?: unknown }) | undefined): Run<never, never> {
    // Most give nothing but a text.
    if (asked == null) return this.dispatch(command) as Run<never, never>
    const { deps, ...how } = asked
    const { options, signal } = signalIn(how)
    const whole = { ...command, ...given(options) }
    if (signal?.aborted === true) {
      checkCommand(whole)
      return neverRun() as Run<never, never>
    }
    return endWith(this.dispatch(whole, { deps })!, signal, (run) => this.#endRun(run)) as Run<never, never>
  }

  #endRun(run: string): void {
    try {
      this.dispatch({ type: 'agent.abort', agentId: this.id, run })
    } catch (thrown) {
      // Its end is the end of the run, too.
      if (!hasCode(thrown, 'AGENT_STOPPED')) throw thrown
    }
  }
}

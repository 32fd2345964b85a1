import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { AgentAccess } from './agentAccess.ts'
import type { DrivenAgent } from './drivenAgent.ts'
import { FollowedRun } from './followedRun.ts'
import type { TaskPlace } from './taskPlace.ts'

/** A task of another protocol, as recorded in its agent's log. There is no other record of it. */
export abstract class LoggedTask<Task> {
  readonly place: TaskPlace
  readonly agent: DrivenAgent
  protected readonly access: AgentAccess
  protected readonly definition: AgentDefinition
  protected readonly run: FollowedRun
  /** Id of the task's newest run. */
  protected runId: string | undefined
  #next = 1

  constructor(place: TaskPlace, agent: DrivenAgent, access: AgentAccess, definition: AgentDefinition) {
    this.place = place
    this.agent = agent
    this.access = access
    this.definition = definition
    this.run = new FollowedRun(place.requestId, agent)
  }

  /** Reads all new records of the log. The result contains nothing that the store does not have. Rejects as the store does. */
  async read(): Promise<Task> {
    await this.agent.durable()
    for await (const record of this.access.records(this.agent.id, this.#next)) {
      this.#next = record.seq + 1
      this.run.take(record)
      if (record.type === 'run.start') {
        const { requestId, resumedFrom, runId } = record
        if (requestId === this.place.requestId || (resumedFrom !== undefined && resumedFrom === this.runId))
          this.runId = runId
      }
      if ('runId' in record && this.runId !== undefined && record.runId === this.runId) this.take(record)
    }
    return this.task()
  }

  /** Takes a record of the task's run. */
  protected abstract take(record: LogRecord): void
  protected abstract task(): Task
}

const telling: ReadonlySet<string> = new Set(['state.changed', 'run.start', 'run.end', 'reply.end', 'tool.end'])

/** Yields a task immediately and whenever its `look` has changed, until it `isDone` or `signal` aborts. Rejects as the store does. */
export async function* followLogged<Task>(
  view: LoggedTask<Task>,
  signal: AbortSignal,
  { look, isDone }: { look(task: Task): string; isDone(task: Task): boolean },
): AsyncGenerator<Task, void, undefined> {
  let changed = Promise.withResolvers<void>()
  const wake = (): void => changed.resolve()
  const unsubscribe = view.agent.subscribe(({ type }) => telling.has(type) && wake(), { descendants: true })
  signal.addEventListener('abort', wake)
  try {
    for (let before = ''; !signal.aborted;) {
      changed = Promise.withResolvers<void>()
      const task = await view.read()
      const now = look(task)
      if (now !== before) yield task
      before = now
      if (isDone(task)) return
      await changed.promise
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wake)
  }
}

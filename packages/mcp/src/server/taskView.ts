import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'
import { awaitsDecision } from '../../../../src/runtime/agents/agentTree.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { FollowedRun } from '../../../bridge/src/server/followedRun.ts'
import { taskIdOf, type TaskPlace } from '../../../bridge/src/server/taskPlace.ts'
import { answerOf } from './answers.ts'
import { askedOf } from './people.ts'

/** A task as the protocol of 2025-11-25 has it. */
export interface McpTask {
  readonly taskId: string
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** Milliseconds for which it is kept: the log keeps it for ever. */
  readonly ttl: null
  readonly pollInterval: number
}

export const isOver = ({ status }: McpTask): boolean => status !== 'working' && status !== 'input_required'

/** Milliseconds between two looks that a client is advised to leave. */
const pollInterval = 1_000
/** Maximum length of a message about a task, in UTF-16 units. */
const mostChars = 400

/** A task as the log of its agent has it. There is no other record of it. */
export class TaskView {
  readonly place: TaskPlace
  readonly agent: DrivenAgent
  readonly #access: AgentAccess
  readonly #definition: AgentDefinition
  readonly #run: FollowedRun
  #runId: string | undefined
  #next = 1
  #words = ''
  #begun: number | undefined
  #time = 0

  constructor(place: TaskPlace, agent: DrivenAgent, access: AgentAccess, definition: AgentDefinition) {
    this.place = place
    this.agent = agent
    this.#access = access
    this.#definition = definition
    this.#run = new FollowedRun(place.requestId, agent)
  }

  /** Reads all that the log has had since. Nothing is shown that the store does not have. Rejects as the store does. */
  async read(): Promise<McpTask> {
    await this.agent.durable()
    for await (const record of this.#access.records(this.agent.id, this.#next)) {
      this.#next = record.seq + 1
      this.#run.take(record)
      this.#take(record)
    }
    return this.#task()
  }

  /** Its result, once it is over. A run that was cut off goes on. */
  get result(): RunResult | undefined {
    const result = this.#run.isOver ? this.#run.result(this.#definition.output) : undefined
    return result?.stopReason === 'paused' && result.reason.type === 'interrupted' ? undefined : result
  }

  #take(record: LogRecord): void {
    if (record.type === 'run.start') {
      const { requestId, resumedFrom, runId } = record
      if (requestId === this.place.requestId || (resumedFrom !== undefined && resumedFrom === this.#runId))
        this.#runId = runId
    }
    if (!('runId' in record) || this.#runId === undefined || record.runId !== this.#runId) return
    this.#begun ??= record.time
    this.#time = record.time
    if (record.type === 'reply.end') this.#words = textOf(record.message.content)
  }

  #task(): McpTask {
    const { status, message } = this.#status()
    const text = oneLine(message, mostChars)
    const now = this.#access.clock.now()
    return {
      taskId: taskIdOf(this.place),
      status,
      ...(text === '' ? {} : { statusMessage: text }),
      createdAt: new Date(this.#begun ?? now).toISOString(),
      lastUpdatedAt: new Date(this.#time || now).toISOString(),
      ttl: null,
      pollInterval,
    }
  }

  #status(): { readonly status: McpTask['status']; readonly message: string } {
    const { result } = this
    if (result === undefined) return this.#underWay()
    if (result.stopReason === 'aborted') return { status: 'cancelled', message: '' }
    const { isError, content } = answerOf({ type: 'over', session: this.agent.id, requestId: undefined, result })
    const [said] = content
    return isError === true
      ? { status: 'failed', message: said?.type === 'text' ? said.text : '' }
      : { status: 'completed', message: '' }
  }

  #underWay(): { readonly status: McpTask['status']; readonly message: string } {
    if (this.#runId === undefined || !awaitsDecision(this.agent)) return { status: 'working', message: this.#words }
    return { status: 'input_required', message: this.agent.pending().map(askedOf).join(' ') }
  }
}

import { textOf } from '../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'
import { awaitsDecision } from '../../../../src/runtime/agents/agentTree.ts'
import { LoggedTask } from '../../../bridge/src/server/loggedTask.ts'
import { taskIdOf } from '../../../bridge/src/server/taskPlace.ts'
import { answerOf } from './answers.ts'
import { askedOf } from './people.ts'

/** A task as the protocol of 2025-11-25 has it. */
export interface McpTask {
  readonly taskId: string
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  /** Time of creation, in ISO 8601. */
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** Milliseconds for which the task is kept; `null`, because the log keeps it for ever. */
  readonly ttl: null
  readonly pollInterval: number
}

export const isOver = ({ status }: McpTask): boolean => status !== 'working' && status !== 'input_required'

/** Recommended interval between a client's polls, in milliseconds. */
const pollInterval = 1_000
/** Maximum length of a message about a task, in UTF-16 units. */
const mostChars = 400

/** Follows a task in the log of its agent. */
export class TaskView extends LoggedTask<McpTask> {
  #words = ''
  #begun: number | undefined
  #time = 0

  /** Result of the task, once it is over. A run that was cut off continues. */
  get result(): RunResult | undefined {
    const result = this.run.isOver ? this.run.result(this.definition.output) : undefined
    return result?.stopReason === 'paused' && result.reason.type === 'interrupted' ? undefined : result
  }

  protected override take(record: LogRecord): void {
    this.#begun ??= record.time
    this.#time = record.time
    if (record.type === 'reply.end') this.#words = textOf(record.message.content)
  }

  protected override task(): McpTask {
    const { status, message } = this.#status()
    const text = oneLine(message, mostChars)
    const now = this.access.clock.now()
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
    if (this.runId === undefined || !awaitsDecision(this.agent)) return { status: 'working', message: this.#words }
    return { status: 'input_required', message: this.agent.pending().map(askedOf).join(' ') }
  }
}

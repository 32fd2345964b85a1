import { TaskState, type Artifact, type Part, type Task } from '@a2a-js/sdk'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { awaitsDecision } from '../../../../src/runtime/agents/agentTree.ts'
import { LoggedTask } from '../../../bridge/src/server/loggedTask.ts'
import { taskIdOf } from '../../../bridge/src/server/taskPlace.ts'
import { askedOf } from '../../../mcp/src/server/people.ts'
import { artifactOf, dataPart, messageOf, textPart } from '../messages.ts'

interface Status {
  readonly state: TaskState
  readonly messageId: string
  readonly parts: Part[]
}

/** A task as recorded in its agent's log. */
export class TaskView extends LoggedTask<Task> {
  readonly #artifacts: Artifact[] = []
  #words: { readonly text: string; readonly id: string } | undefined
  #time = 0

  /** Calls and questions that this client may decide. */
  get pending(): readonly Pending[] {
    return this.agent.pending().filter(({ kind }) => this.access.may(kind === 'approval' ? 'approve' : 'answer.own'))
  }

  protected override take(record: LogRecord): void {
    this.#time = record.time
    if (record.type === 'reply.end') {
      const text = textOf(record.message.content)
      if (text !== '') this.#words = { text, id: `${record.seq}` }
    }
    if (record.type === 'tool.end' && record.data !== undefined)
      this.#artifacts.push(artifactOf(`call-${record.callId}`, record.name, [dataPart(record.data)]))
  }

  protected override task(): Task {
    const id = taskIdOf(this.place)
    const contextId = this.agent.id
    const result = this.run.isOver ? this.run.result(this.definition.output) : undefined
    const { state, parts, messageId } = result === undefined ? this.#underWay() : ended(result)
    const message = parts.length === 0 ? undefined : messageOf('agent', parts, { messageId, taskId: id, contextId })
    const timestamp = this.#time === 0 ? undefined : new Date(this.#time).toISOString()
    return {
      id,
      contextId,
      status: { state, message, timestamp },
      artifacts: [...this.#artifacts, ...(result === undefined ? [] : answerOf(result))],
      history: [],
      metadata: undefined,
    }
  }

  #underWay(): Status {
    const { pending } = this
    if (this.runId !== undefined && pending.length > 0 && awaitsDecision(this.agent))
      return {
        state: TaskState.TASK_STATE_INPUT_REQUIRED,
        messageId: pending.map(({ key }) => key).join(),
        parts: [textPart(pending.map(askedOf).join('\n\n')), dataPart({ pending: pending.map(shown) })],
      }
    const words = this.#words
    return {
      state: this.runId === undefined ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING,
      messageId: words?.id ?? '',
      parts: words === undefined ? [] : [textPart(words.text)],
    }
  }
}

const shown = (pending: Pending): object => ({
  key: pending.key,
  kind: pending.kind,
  name: pending.name,
  ...(pending.kind === 'question' ? { schema: pending.schema } : {}),
})

function ended({ stopReason, text, error, reason, runId }: RunResult): Status {
  const messageId = `${runId}/end`
  const failed = (why: string): Status => ({
    state: TaskState.TASK_STATE_FAILED,
    messageId,
    parts: [textPart(text === '' ? why : `${why}\n\nIts last words were:\n${text}`)],
  })
  switch (stopReason) {
    case 'stop':
      return { state: TaskState.TASK_STATE_COMPLETED, messageId, parts: [] }
    case 'aborted':
      return { state: TaskState.TASK_STATE_CANCELED, messageId, parts: [] }
    case 'refusal':
      return { state: TaskState.TASK_STATE_REJECTED, messageId, parts: [textPart(text || 'It refused.')] }
    case 'length':
      return failed('The answer was cut off at its greatest length.')
    case 'paused':
      return failed(reason?.type === 'limit' ? `It reached its limit: ${reason.limit}.` : 'It was paused.')
    case 'error':
      return failed(error?.message ?? 'It failed.')
  }
}

/** Returns the answer: as data, if the definition has an output schema. */
function answerOf(result: RunResult): Artifact[] {
  if (result.stopReason !== 'stop' || result.text === '') return []
  const { output } = result
  return [artifactOf('answer', 'answer', [output === undefined ? textPart(result.text) : dataPart(output)])]
}

import { TaskState, type StreamResponse, type Task } from '@a2a-js/sdk'
import { followLogged } from '../../../bridge/src/server/loggedTask.ts'
import type { TaskView } from './taskView.ts'

const final: ReadonlySet<TaskState | undefined> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
])

export const isOver = ({ status }: Pick<Task, 'status'>): boolean => final.has(status?.state)

export const isWaiting = ({ status }: Pick<Task, 'status'>): boolean =>
  status?.state === TaskState.TASK_STATE_INPUT_REQUIRED

/** Yields a task at once and whenever it has changed, until it is over, `signal` aborts or, unless `toEnd`, it waits for an answer. */
export const followTask = (
  view: TaskView,
  signal: AbortSignal,
  { toEnd = false }: { readonly toEnd?: boolean } = {},
): AsyncGenerator<Task, void, undefined> =>
  followLogged(view, signal, {
    look: ({ status, artifacts }) => JSON.stringify([status?.state, status?.message, artifacts.length]),
    isDone: (task) => isOver(task) || (!toEnd && isWaiting(task)),
  })

/** Yields the task as updates of a stream: first the task, as the protocol requires, then everything new in it. */
export async function* taskUpdates(
  view: TaskView,
  signal: AbortSignal,
): AsyncGenerator<StreamResponse, void, undefined> {
  let known: number | undefined
  for await (const task of followTask(view, signal)) {
    const { id: taskId, contextId, status } = task
    const place = { taskId, contextId, metadata: undefined }
    if (known === undefined) yield { payload: { $case: 'task', value: task } }
    else {
      for (const artifact of task.artifacts.slice(known))
        yield { payload: { $case: 'artifactUpdate', value: { ...place, artifact, append: false, lastChunk: true } } }
      yield { payload: { $case: 'statusUpdate', value: { ...place, status } } }
    }
    known = task.artifacts.length
  }
}

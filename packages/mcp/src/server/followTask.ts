import { followLogged } from '../../../bridge/src/server/loggedTask.ts'
import { isOver, type McpTask, type TaskView } from './taskView.ts'

/** Yields a task whenever it has changed, until it is over or `signal` aborts. Rejects as the store does. */
export const followTask = (view: TaskView, signal: AbortSignal): AsyncGenerator<McpTask, void, undefined> =>
  followLogged(view, signal, { look: ({ status, statusMessage }) => `${status} ${statusMessage}`, isDone: isOver })

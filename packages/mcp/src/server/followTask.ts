import { isOver, type McpTask, type TaskView } from './taskView.ts'

const telling: ReadonlySet<string> = new Set(['state.changed', 'run.start', 'run.end', 'reply.end', 'tool.end'])

/** Yields a task whenever it has changed, until it is over or `signal` aborts. Rejects as the store does. */
export async function* followTask(view: TaskView, signal: AbortSignal): AsyncGenerator<McpTask, void, undefined> {
  let wake = Promise.withResolvers<void>()
  const look = (): void => wake.resolve()
  const unsubscribe = view.agent.subscribe(
    ({ type }) => {
      if (telling.has(type)) look()
    },
    { descendants: true },
  )
  signal.addEventListener('abort', look)
  try {
    for (let before = ''; !signal.aborted;) {
      wake = Promise.withResolvers<void>()
      const task = await view.read()
      const now = `${task.status} ${task.statusMessage}`
      if (now !== before) yield task
      before = now
      if (isOver(task)) return
      await wake.promise
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', look)
  }
}

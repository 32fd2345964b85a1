const relatedTask = 'io.modelcontextprotocol/related-task'

/** Returns the id of the task that a server's request is about. */
export function taskOf(request: unknown): string | undefined {
  const { _meta: meta } = request as { readonly _meta?: { readonly [key: string]: unknown } }
  const { taskId } = (meta?.[relatedTask] ?? {}) as { readonly taskId?: unknown }
  return typeof taskId === 'string' ? taskId : undefined
}

/** Returns a mark for an answer about a task. */
export const ofTask = (taskId: string | undefined): object =>
  taskId === undefined ? {} : { _meta: { [relatedTask]: { taskId } } }

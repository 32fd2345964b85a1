const relatedTask = 'io.modelcontextprotocol/related-task'

/** Returns the task for which a server asks something. */
export function taskOf(request: unknown): string | undefined {
  const { _meta: meta } = request as { readonly _meta?: { readonly [key: string]: unknown } }
  const { taskId } = (meta?.[relatedTask] ?? {}) as { readonly taskId?: unknown }
  return typeof taskId === 'string' ? taskId : undefined
}

/** Marks an answer as one that is about a task. */
export const ofTask = (taskId: string | undefined): object =>
  taskId === undefined ? {} : { _meta: { [relatedTask]: { taskId } } }

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { judge } from '../../../test/judges/judge.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

interface Task {
  readonly taskId: string
}

interface Store {
  createTask(options: { readonly ttl: number | null; readonly pollInterval: number }): Promise<Task>
  getTask(taskId: string): Promise<Task>
  getTaskResult(taskId: string): Promise<object>
  updateTaskStatus(taskId: string, status: string, message?: string): Promise<void>
  storeTaskResult(taskId: string, status: string, result: object): Promise<void>
}

interface Extra {
  readonly taskStore: Store
  readonly taskId: string
}

interface McpServer {
  readonly experimental: {
    readonly tasks: {
      registerToolTask(
        name: string,
        config: { readonly description: string; readonly execution?: { readonly taskSupport: string } },
        handler: {
          createTask(extra: Extra): Promise<{ readonly task: Task }>
          getTask(extra: Extra): Promise<Task>
          getTaskResult(extra: Extra): Promise<object>
        },
      ): void
    }
  }
  connect(transport: object): Promise<void>
}

/** A server of tasks with the SDK of the protocol of 2025-11-25, which has a store of tasks. */
export interface TasksServer {
  readonly port: number
  /** Number of tasks that were begun. */
  readonly begun: () => number
}

/** Serves a tool `clerk` whose tasks work until `gate`, and are kept for `ttl` milliseconds. */
export async function serveTasks(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  gate: Promise<unknown>,
  ttl: number | null = null,
): Promise<TasksServer> {
  const { McpServer } = await judge<{
    McpServer: new (info: object, options: object) => McpServer
  }>('@modelcontextprotocol/sdk/server/mcp.js')
  const { StreamableHTTPServerTransport } = await judge<{
    StreamableHTTPServerTransport: new (options: object) => { handleRequest(...args: unknown[]): Promise<void> }
  }>('@modelcontextprotocol/sdk/server/streamableHttp.js')
  const { InMemoryTaskStore } = await judge<{ InMemoryTaskStore: new () => { cleanup(): void } }>(
    '@modelcontextprotocol/sdk/experimental/tasks',
  )
  const taskStore = new InMemoryTaskStore()
  cleanup(() => taskStore.cleanup())
  let begun = 0
  const made = (): McpServer => {
    const capabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
    const server = new McpServer({ name: 'foreign', version: '1.0.0' }, { capabilities, taskStore })
    server.experimental.tasks.registerToolTask(
      'clerk',
      { description: 'Works.' },
      {
        async createTask({ taskStore: store }) {
          begun += 1
          const task = await store.createTask({ ttl, pollInterval: 50 })
          await store.updateTaskStatus(task.taskId, 'working', 'It works.')
          void gate
            .then(() =>
              store.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text: 'worked' }] }),
            )
            .catch(() => {})
          return { task }
        },
        getTask: ({ taskStore: store, taskId }) => store.getTask(taskId),
        getTaskResult: ({ taskStore: store, taskId }) => store.getTaskResult(taskId),
      },
    )
    return server
  }
  const http = createServer((request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    void made()
      .connect(transport)
      .then(() => transport.handleRequest(request, response))
      .catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    http.closeAllConnections()
    http.close()
  })
  return { port: (http.address() as AddressInfo).port, begun: () => begun }
}

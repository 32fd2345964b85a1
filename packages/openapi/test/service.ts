import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import type { Tool } from '../../../src/actors/tools/defineTool.ts'
import { openApiTools, type OpenApiTools } from '../src/openApiTools.ts'
import type { OpenApiOptions } from '../src/options.ts'
import { toolContext } from '../../../test/support/toolContext.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

/** A request as the service got it. */
export interface Asked {
  readonly method: string
  /** Path and query, as they came. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Answer = (asked: Asked, response: ServerResponse) => void | Promise<void>

export interface Service {
  readonly url: string
  readonly asked: readonly Asked[]
}

/** A service on a free port; without an answer it says `{}`. */
export async function startService({ cleanup }: Pick<CaseContext, 'cleanup'>, answer?: Answer): Promise<Service> {
  const asked: Asked[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request.setEncoding('latin1')) body += chunk
    const one = { method: request.method!, url: request.url!, headers: request.headers, body }
    asked.push(one)
    if (answer === undefined) json(response, {})
    else await answer(one, response)
  }
  // A client that leaves in the middle is no matter.
  const server = createServer((request, response) => void take(request, response).catch(() => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

export const json = (
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))

type Paths = { readonly [path: string]: { readonly [method: string]: unknown } }

/** A document of version 3.1. */
export const documentOf = (url: string, paths: Paths, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Pet Shop', version: '1' },
  servers: [{ url }],
  paths,
  ...more,
})

/** The tools of an open source, by name. */
export function opened(
  source: OpenApiTools,
  host: { readonly clock?: Clock; readonly hide?: (secrets: readonly string[]) => void } = {},
): { readonly [name: string]: Tool } {
  const { tools } = source.open({ clock: systemClock, ...host })
  return Object.fromEntries(tools.map((tool) => [tool.name, tool as Tool]))
}

/** The one tool of a document with one operation. */
export async function oneTool(
  url: string,
  operation: object,
  {
    path = '/pets',
    method = 'get',
    more = {},
    ...options
  }: OpenApiOptions & { readonly path?: string; readonly method?: string; readonly more?: object } = {},
): Promise<Tool> {
  const source = await openApiTools(
    documentOf(url, { [path]: { [method]: { operationId: 'one', ...operation } } }, more),
    options,
  )
  return opened(source)['one']!
}

/** Checks the arguments, as the runtime does, and calls. */
export async function use(tool: Tool, input: unknown, context = toolContext()): Promise<unknown> {
  const parsed = tool.parse(input)
  if (!parsed.ok) throw new Error(parsed.message)
  return await tool.run(parsed.value, context)
}

/** The message of what must fail. */
export async function failure(doing: Promise<unknown>): Promise<string> {
  try {
    await doing
  } catch (thrown) {
    return (thrown as Error).message
  }
  throw new Error('It should have failed.')
}

import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Event } from '@ag-ui/core'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { Runtime } from '../../bridge/src/createRuntime.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import { inputOf, serveFrontEnds } from './agUiHarness.ts'

type Context = Pick<CaseContext, 'cleanup'>

/** A server for front ends that says how many bytes of its newest answer wait for the client. */
export async function serveWatched(
  context: Context,
  definition: AgentDefinition,
): Promise<{ readonly runtime: Runtime; readonly url: string; waiting(): number }> {
  const http = createServer()
  const { server, runtime } = await serveFrontEnds(context, [definition], { server: http })
  let answer: ServerResponse | undefined
  http.on('request', (asked, answering) => {
    answer = answering
    server.handle(asked, answering)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  context.cleanup(() => {
    http.closeAllConnections()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/ag-ui`
  return { runtime, url, waiting: () => answer?.writableLength ?? 0 }
}

/** A client that asks for a run and reads nothing until it is told to. */
export async function stalled({ cleanup }: Context, url: string): Promise<IncomingMessage> {
  const asking = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } })
  cleanup(() => asking.destroy())
  asking.on('error', () => {})
  asking.end(JSON.stringify(inputOf()))
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  response.pause()
  return response
}

/** Reads on to the end, and gives the events. */
export async function readOn(response: IncomingMessage, onChunk: () => void = () => {}): Promise<Event[]> {
  response.setEncoding('utf8')
  let body = ''
  for await (const chunk of response) {
    onChunk()
    body += chunk as string
  }
  return body
    .split('\n\n')
    .filter((part) => part.startsWith('data: '))
    .map((part) => JSON.parse(part.slice(6)) as Event)
}

import * as fc from 'fast-check'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { openApiTools } from '../src/openApiTools.ts'
import { exportSession } from '../../sessions/src/exportSession.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { anywhere, inHeaders, secretWith, told } from '../../../test/support/awkwardSecrets.ts'
import { someRuns } from '../../../test/support/seeds.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { startTracing } from '../../otel/test/tracingProbe.ts'
import { documentOf, startService } from './service.ts'

const hidden = fc.record({
  header: secretWith(inHeaders),
  token: secretWith(inHeaders),
  query: secretWith(anywhere),
  password: secretWith(anywhere),
})

/** So much stands before them in an answer, which is bad or good, that it is cut in their middle. */
const answers = [
  ...[0, 3_650, 3_750, 3_850, 3_950].map((room) => ({ isBad: true, room })),
  ...[0, 4_650, 4_750, 4_850, 4_950].map((room) => ({ isBad: false, room })),
] as const
const maxBytes = 5_000

const schemes = {
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
  token: { type: 'oauth2', flows: {} },
  basic: { type: 'http', scheme: 'basic' },
}

describe('secrets of a service', (it) => {
  it(
    'are in no record, event, request, span or export, however they look and the service repeats them',
    { timeoutMs: 30_000 },
    async (context) => {
      let tried = 0
      await fc.assert(
        fc.asyncProperty(hidden, async ({ header, token, query, password }) => {
          const { isBad, room } = answers[tried++ % answers.length]!
          const { url } = await startService(context, ({ url: asked, headers }, response) => {
            const said = {
              room: '-'.repeat(room),
              asked,
              headers,
              decoded: decodeURIComponent(asked),
              list: [JSON.stringify(headers)],
            }
            response.writeHead(isBad ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
          })
          const paths = Object.fromEntries(
            Object.keys(schemes).map((name) => [
              `/${name}`,
              { get: { operationId: name, security: [{ [name]: [] }] } },
            ]),
          )
          const service = await openApiTools(documentOf(url, paths, { components: { securitySchemes: schemes } }), {
            responses: { maxBytes },
            auth: { header, query, token: () => token, basic: { username: 'ann', password } },
          })
          const requests: unknown[] = []
          const agent = defineAgent({
            name: 'clerk',
            tools: [service],
            captureTurnRequests: true,
            model: policyModel((request) => {
              requests.push(request)
              const isFirst = request.messages.at(-1)!.role === 'user'
              return isFirst ? { toolCalls: Object.keys(schemes).map((name) => ({ name, input: {} })) } : 'done'
            }),
          })
          const logged: unknown[] = []
          const log = (fields: unknown, message?: string): void => void logged.push([fields, message])
          const probe = startTracing(context, { content: true })
          const store = memoryStore()
          const logger = { debug: log, info: log, warn: log, error: log }
          const runtime = await createRuntime({ store, tracer: probe.tracer, logger })
          const clerk = await runtime.spawn(agent)
          const events: unknown[] = []
          clerk.subscribe((event) => events.push(event))
          assert.is((await clerk.prompt('go').result).text, 'done')
          const exported: string[] = []
          for await (const line of exportSession(store, clerk.id)) exported.push(line)
          await clerk.stop()
          await runtime.close()
          const all = JSON.stringify([requests, events, exported, logged, probe.spans()])
          if (room === 0) assert.match(all, /redacted:Pet_Shop/)
          for (const secret of [header, token, query, password]) {
            const pieces = secret.split(/[^a-zA-Z]+/).filter((piece) => piece.length >= told)
            for (const piece of pieces) assert.not.ok(all.includes(piece), `${piece} of ${secret}`)
          }
          assert.not.ok(all.includes(Buffer.from(`ann:${password}`).toString('base64')))
        }),
        { numRuns: someRuns(4 * answers.length), seed: 18, endOnFailure: true },
      )
    },
  )
})

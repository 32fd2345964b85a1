import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { readJson } from '../../../../src/protocol/checks/readOutput.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { lastingStore, serveAgents } from './bridgeHarness.ts'

const schema = z.object({ city: z.string(), people: z.coerce.number(), lake: z.boolean().default(false) })

const geographer = (...answers: string[]) =>
  defineAgent({ name: 'geographer', model: scriptedModel(answers), output: schema, outputAttempts: 2 })

const oslo = '{ "city": "Oslo", "people": "7" }'

async function served(context: CaseContext, ...answers: string[]) {
  const serving = await serveAgents(context, [geographer(...answers)])
  return serving.connect()
}

describe('answers as data, from afar', (it) => {
  it('are the JSON that the server checked, also in a fence and after one that it refused', async (context) => {
    const client = await served(context, 'It is Oslo.', `\`\`\`json\n${oslo}\n\`\`\``)
    const agent = await client.spawn<ReturnType<typeof geographer>>('geographer')
    const result = await agent.prompt('Where?').result
    assert.ok(result.stopReason === 'stop')
    assert.equal(result.output, { city: 'Oslo', people: '7' })
  })

  it('are what the schema of the client makes of them', async (context) => {
    const client = await served(context, oslo)
    const { id } = await client.spawn('geographer')
    const result = await client.agent(id, { output: schema }).prompt('Where?').result
    assert.ok(result.stopReason === 'stop')
    assert.equal(result.output, { city: 'Oslo', people: 7, lake: false })
  })

  it('end the run with an error here, and not there, when they do not fit that schema', async (context) => {
    const store = lastingStore()
    const serving = await serveAgents(context, [geographer(oslo)], { runtime: { store } })
    const client = serving.connect()
    const { id } = await client.spawn('geographer')
    const newer = schema.extend({ country: z.string() })
    const result = await client.agent(id, { output: newer }).prompt('Where?').result
    assert.ok(result.stopReason === 'error')
    assert.is(result.error.code, 'OUTPUT_INVALID')
    assert.match(result.error.message, /country/)
    assert.is(result.text, oslo)
    assert.is(serving.runtime.agent(id)?.state, 'idle')
  })

  it('are only those of an agent that has a schema', async (context) => {
    const plain = defineAgent({ name: 'plain', model: scriptedModel(['42']) })
    const serving = await serveAgents(context, [plain])
    const result = await (await serving.connect().spawn('plain')).prompt('How many?').result
    assert.is(result.text, '42')
    assert.not.ok('output' in result)
  })
})

describe('the JSON of an answer', (it) => {
  it('may be null, and is nothing in words', () => {
    assert.equal(readJson('null'), { value: null })
    assert.is(readJson('four'), undefined)
  })
})

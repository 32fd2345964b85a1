import { z } from 'zod'
import {
  createRuntime,
  defineAgent,
  defineTool,
  policyModel,
  type AgentEvent,
  type AgentOptions,
  type Model,
  type RuntimeOptions,
} from '../../src/index.ts'
import { callbackBugs, isLikelyBug } from '../../src/protocol/callbackBugs.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const here = import.meta.filename.slice(import.meta.filename.lastIndexOf('/') + 1)

/** Warnings of the process from now on. */
function warnings({ cleanup }: Pick<CaseContext, 'cleanup'>): string[] {
  const heard: string[] = []
  const hear = ({ name, message }: Error): void => {
    if (name === 'EscapementWarning') heard.push(message)
  }
  process.on('warning', hear)
  cleanup(() => process.off('warning', hear))
  return heard
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Calls the tool once, and then says what came of it. */
const caller: Model = policyModel(({ messages }) => {
  const last = messages.at(-1)!
  if (last.role !== 'toolResult') return { toolCalls: [{ name: 't', input: {} }] }
  return last.content.map((block) => ('text' in block ? block.text : '')).join('')
})

const tool = (run: () => unknown, needsApproval = false as boolean | (() => boolean | Promise<boolean>)) =>
  defineTool({ name: 't', description: 'It does.', input: z.object({}), needsApproval, run })

interface Given extends Partial<Omit<AgentOptions, 'name'>> {
  readonly runtime?: RuntimeOptions
}

async function start({ cleanup }: Pick<CaseContext, 'cleanup'>, { runtime: options = {}, ...given }: Given) {
  const runtime = await createRuntime(options)
  cleanup(() => runtime.close())
  return await runtime.spawn(defineAgent({ name: 'a', model: caller, tools: [tool(() => 'fine')], ...given }))
}

const broken = (): never => (undefined as unknown as { foo(): never }).foo()
const seen = /Cannot read properties of undefined \(reading 'foo'\)/

/** One warning, of that place, with where it happened. */
function checkOne(heard: readonly string[], place: string): void {
  assert.is(heard.length, 1, heard.join('\n'))
  assert.ok(heard[0]!.startsWith(`${place} failed: `), heard[0])
  assert.match(heard[0]!, seen)
  assert.ok(heard[0]!.includes(here), 'the stack has the file')
}

describe('a bug in a function of the application', (it) => {
  it('that listens is told with its stack, once for each message, whether it throws or rejects', async (test) => {
    const heard = warnings(test)
    const agent = await start(test, {})
    agent.subscribe(() => broken())
    agent.subscribe(async () => broken())
    agent.subscribe(async (event) => {
      if (event.type === 'run.end') throw new Error('another')
    })
    await agent.prompt('go').result
    await agent.prompt('go').result
    await settled()
    assert.is(heard.length, 2)
    checkOne(heard.slice(0, 1), 'A listener of agent "a"')
    assert.match(heard[1]!, /another/)
  })

  const places: { readonly [place: string]: Given } = {
    beforeTool: { beforeTool: broken },
    afterTool: { afterTool: broken },
    instructions: { instructions: broken },
    beforeTurn: { beforeTurn: async () => broken() },
    'needsApproval of tool "t"': { tools: [tool(() => 'fine', broken)] },
    'The tool "t"': { tools: [tool(broken)] },
    // Asked four times, and told once.
    'The model "mine"': { model: policyModel(broken, { id: 'mine' }), retry: { baseMs: 1 } },
    'The guard broken': { guards: { input: [broken] } },
  }
  for (const [what, given] of Object.entries(places))
    it(`in ${what} is told to the process and the logger, and nobody else sees where it is`, async (test) => {
      const heard = warnings(test)
      const lines: { readonly fields: object; readonly message: string }[] = []
      const nothing = (): void => {}
      const error = (fields: object, message: string): void => void lines.push({ fields, message })
      const logger = { debug: nothing, info: nothing, warn: nothing, error }
      const agent = await start(test, { ...given, runtime: { logger } })
      const events: AgentEvent[] = []
      agent.subscribe((event) => {
        events.push(event)
        if (event.type === 'approval.requested') agent.decide(event.key, 'deny')
      })
      await agent.prompt('go').result
      await settled()
      checkOne(heard, `${what} of agent "a"`)
      const told = lines.filter(({ message }) => message === heard[0])
      assert.equal(
        told.map(({ fields }) => fields),
        [{ agentId: agent.id, place: `${what} of agent "a"` }],
      )
      assert.ok(!JSON.stringify(events).includes(here), 'no event has the stack')
    })

  it('is told without the secrets that are kept out of logs', async (test) => {
    const heard = warnings(test)
    const run = (): never => {
      throw new TypeError('no such key: hunter2-hunter2')
    }
    const agent = await start(test, {
      tools: [tool(run)],
      runtime: { redact: { secrets: { KEY: 'hunter2-hunter2' } } },
    })
    await agent.prompt('go').result
    await settled()
    assert.is(heard.length, 1)
    assert.match(heard[0]!, /no such key: \[redacted:KEY\]/)
    assert.ok(!heard[0]!.includes('hunter2'))
  })

  it('is told of everything that is no Error, too', async (test) => {
    const heard = warnings(test)
    const run = (): never => {
      // oxlint-disable-next-line no-throw-literal, only-throw-error -- that is the bug
      throw { why: 'no Error' }
    }
    const agent = await start(test, { tools: [tool(run)] })
    await agent.prompt('go').result
    await settled()
    assert.match(heard.join(), /The tool "t" of agent "a" failed: \{"why":"no Error"\}, which is no Error/)
  })

  it('that goes on failing in ever other words is told ten times', async (test) => {
    const heard = warnings(test)
    let count = 0
    const run = (): never => {
      throw new TypeError(`failure ${count++}`)
    }
    const agent = await start(test, { tools: [tool(run)] })
    for (let n = 0; n < 14; n++) await agent.prompt('go').result
    await settled()
    assert.is(heard.length, 11)
    assert.match(heard.at(-1)!, /Further failures of it are not told/)
  })
})

describe('what a tool throws to tell its model', (it) => {
  it('is told to nobody else', async (test) => {
    const heard = warnings(test)
    class NotFound extends Error {}
    const run = (): never => {
      throw new NotFound('There is no order A7.')
    }
    const agent = await start(test, { tools: [tool(run)] })
    assert.is((await agent.prompt('go').result).text, 'There is no order A7.')
    await settled()
    assert.equal(heard, [])
  })

  it('is told from a bug by what it is', async () => {
    const network = Object.assign(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }))
    const invalid = await Promise.resolve()
      .then(() => new URL('no address'))
      .catch((thrown: unknown) => thrown)
    const json = await Promise.resolve('{')
      .then(JSON.parse)
      .catch((thrown: unknown) => thrown)
    assert.equal([network, invalid, json, new Error('no')].map(isLikelyBug), [false, false, false, false])
    assert.equal([new TypeError('x'), new ReferenceError('x'), 'no', undefined, null].map(isLikelyBug), [
      true,
      true,
      true,
      true,
      true,
    ])
  })
})

describe('what belongs to no runtime', (it) => {
  it('is told of whatever was thrown, with what caused it', async (test) => {
    const heard = warnings(test)
    callbackBugs.tell('a test', new Error('outer', { cause: new TypeError('inner') }))
    const odd = {
      toJSON: (): never => {
        throw new Error('no')
      },
    }
    callbackBugs.tell('a test', odd)
    await settled()
    assert.match(heard[0]!, /a test failed: Error: outer[^]*Caused by: TypeError: inner/)
    assert.match(heard[1]!, /a test failed: a value of type object, which is no Error/)
  })
})

describe('a listener that throws', (it) => {
  it('keeps no agent from starting, whatever it listens to, and its error is of the run that it heard', async (test) => {
    const heard = warnings(test)
    const runtime = await createRuntime()
    test.cleanup(() => runtime.close())
    runtime.onAgent(() => broken())
    const agent = await runtime.spawn(defineAgent({ name: 'a', model: policyModel(() => 'fine') }), { id: 'a1' })
    agent.inspect(() => broken())
    agent.subscribe((event) => {
      if (event.type === 'reply.end') broken()
    })
    const errors: string[] = []
    agent.subscribe((event) => {
      if (event.type === 'error') errors.push(`${event.error.code} ${event.runId}`)
    })
    assert.is((await agent.prompt('go').result).text, 'fine')
    await settled()
    assert.equal(errors, ['SUBSCRIBER_FAILED a1/r0'])
    assert.equal(heard.map((text) => text.slice(0, text.indexOf(' failed'))).toSorted(), [
      'A listener of agent "a"',
      'A listener of inspect',
      'A listener of onAgent',
    ])
  })
})

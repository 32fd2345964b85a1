import { pino } from 'pino'
import { errorInfo } from '../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { logEvent, narrate } from '../../words/src/narrate.ts'
import { calls, tool } from '../../../test/support/agentHarness.ts'
import { brittleStore } from '../../../test/support/brittleStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { startTraced } from './tracingProbe.ts'

type Line = { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> }

/** A logger that keeps its lines. */
function keeper(): { logger: Logger; lines: Line[]; told(level: string): string[] } {
  const lines: Line[] = []
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: { ...fields } })
  return {
    lines,
    logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    told: (level) => lines.filter((line) => line.level === level).map(({ message }) => message),
  }
}

const seen = tool('look', () => 's-result')
const risky = tool('risky', () => 's-result', { needsApproval: true })

describe('a logger', (it) => {
  it('is told of a run in a few lines, and of turns and tools at debug', async (test) => {
    const { logger, lines, told } = keeper()
    const { agent } = await startTraced(test, { logger, tools: [seen], replies: [calls('c', 'look'), 'done'] })
    await agent.prompt('go').result
    await agent.stop()
    assert.equal(told('info'), [
      'agent created',
      'run started (prompt)',
      'run ended (stop) after 2 turns',
      'agent stopped',
    ])
    assert.equal(
      told('debug').filter((message) => !message.includes('token')),
      [
        'message added (prompt)',
        'turn started',
        'tool look started',
        'tool look ended',
        'turn ended',
        'turn started',
        'turn ended',
      ],
    )
    assert.equal([...told('warn'), ...told('error')], [])
    const { seq, ...end } = lines.find(({ message }) => message.startsWith('run ended'))!.fields
    assert.type(seq, 'number')
    const { usage: _, ...fields } = end
    assert.equal(fields, {
      agentId: 'a1',
      event: 'run.end',
      runId: 'a1/r0',
      turnIndex: 1,
      stopReason: 'stop',
      turns: 2,
      costUsd: 0,
    })
  })

  it('never sees what was said', async (test) => {
    const { logger, lines } = keeper()
    const { agent, untilState } = await startTraced(test, {
      logger,
      instructions: 's-system',
      tools: [seen, risky],
      braking: { revert: true },
      replies: [
        { thinking: 's-thought', text: 's-text', toolCalls: [{ name: 'look', input: { at: 's-input' } }] },
        calls('c', ['risky', { at: 's-input' }]),
        calls('d', ['revert_to_state', { category: 'failure', step: 's-step', summary: 's-summary' }]),
        { error: { kind: 'badRequest', message: 's-quoted' } },
      ],
    })
    const run = agent.prompt('s-prompt')
    await untilState('paused')
    agent.decide('c0', 'deny', 's-reason')
    await run.result
    assert.ok(lines.length > 15)
    assert.not.match(JSON.stringify(lines), /s-/)
  })

  it('is warned of retries and limits, and told of failures as errors', async (test) => {
    const { logger, told, lines } = keeper()
    const { agent, clock, untilState } = await startTraced(test, {
      logger,
      limits: { turns: 1 },
      tools: [seen],
      replies: [
        { error: { kind: 'rateLimited', message: 'slow down', retryAfterMs: 2_000 } },
        calls('c', 'look'),
        { error: { kind: 'auth', message: 'bad key' } },
      ],
    })
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(2_000)
    await run.result
    await agent.resume().result
    assert.equal(told('warn'), [
      'model call failed, next attempt in 2000 ms',
      'run paused after 1 turn: its limit of turns is reached',
      'model call failed',
    ])
    assert.equal(told('error'), ['run failed after 1 turn'])
    const { code, error } = lines.find(({ level }) => level === 'error')!.fields
    assert.is(code, 'MODEL_AUTH')
    assert.match(String(error), /bad key/)
  })

  it('is warned of a limit after which an agent answered, which is no pause', async (test) => {
    const { logger, told } = keeper()
    const { agent } = await startTraced(test, {
      logger,
      limits: { turns: 1, onLimit: 'answer' },
      tools: [seen],
      replies: [calls('c', 'look'), 'what I know'],
    })
    const { stopReason } = await agent.prompt('go').result
    assert.is(stopReason, 'stop')
    assert.equal(told('warn'), ['run answered after 2 turns: its limit of turns is reached'])
  })

  it('is told why a store failed', async (test) => {
    const { logger, lines } = keeper()
    const store = brittleStore()
    const { agent } = await startTraced(test, { logger, store, replies: ['never'] })
    store.fail = new Error('no space')
    test.cleanup(() => (store.fail = undefined))
    await agent.prompt('go').result
    const codes = lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['code'])
    assert.ok(codes.length > 0 && codes.every((code) => code === 'STORE_APPEND_FAILED'), String(codes))
  })

  it('that throws, or rejects, harms nobody', async (test) => {
    const fail = (): never => {
      throw new Error('no disk')
    }
    const reject = (): Promise<never> => Promise.reject(new Error('no disk'))
    const warned: Error[] = []
    const hear = (warning: Error): void => void warned.push(warning)
    process.on('warning', hear)
    test.cleanup(() => process.off('warning', hear))
    for (const log of [fail, reject]) {
      const logger = { debug: log, info: log, warn: log, error: log }
      const { agent, runtime } = await startTraced(test, {
        logger,
        tools: [seen],
        replies: [calls('c', 'look'), 'done'],
      })
      assert.is((await agent.prompt('go').result).text, 'done')
      await runtime.close()
    }
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(
      warned
        .filter(({ name }) => name === 'EscapementWarning')
        .map(({ message }) => message.slice(0, message.indexOf('\n    at '))),
      ['The logger of a runtime failed: Error: no disk', 'The logger of a runtime failed: Error: no disk'],
    )
  })

  it('may be a pino logger as it is', async (test) => {
    const written: string[] = []
    const logger = pino({ level: 'info', base: null, timestamp: false }, { write: (text) => void written.push(text) })
    const { agent } = await startTraced(test, { logger, replies: ['done'] })
    await agent.prompt('go').result
    assert.equal(
      written.map((text) => (JSON.parse(text) as { msg: string }).msg),
      ['agent created', 'run started (prompt)', 'run ended (stop) after 1 turn'],
    )
  })
})

describe('narrate', (it) => {
  const at = { v: 3, seq: 3, time: 0, runId: 'a1/r0', turnIndex: 0, agentId: 'a1', path: [] } as const
  const told = (event: AgentEvent): string => {
    const { level, message } = narrate(event) ?? { level: 'none', message: '' }
    return `${level}: ${message}`
  }

  it('says of a refused revert why, unless that quotes the model', () => {
    const refused = {
      ...at,
      type: 'revert.applied',
      id: 'r',
      applied: false,
      category: 'failure',
      requested: '',
    } as const
    const reasonOf = (reason: string): unknown => narrate({ ...refused, reason })?.fields['reason']
    assert.is(told({ ...refused, reason: 'revert target n9 not found' }), 'warn: revert refused')
    assert.is(reasonOf('revert target n9 not found'), 'revert target n9 not found')
    assert.is(reasonOf('revert target "delete it" not found'), undefined)
  })

  it('says of a pin which step it keeps, or why not', () => {
    const pin = { ...at, type: 'pin.applied', id: 'i', requested: 'n2', pinned: true } as const
    assert.is(told({ ...pin, applied: true, step: 2 }), 'info: n2 pinned')
    assert.is(told({ ...pin, pinned: false, applied: true, step: 2 }), 'info: n2 unpinned')
    assert.is(told({ ...pin, applied: false, reason: 'pin refused: n2 not found' }), 'warn: pin refused')
  })

  it('says that an agent goes in circles, but quotes no call', () => {
    const evidence = 's-quoted'
    const stall = { rule: 'cycle', first: 4, target: 3, evidence } as const
    const detected = narrate({ ...at, ...stall, type: 'stall.detected', steps: [4, 6], count: 2, rung: 'revert' })!
    assert.equal([detected.level, detected.message], ['warn', 'it goes in circles (cycle)'])
    assert.is(detected.fields['target'], 'n3')
    const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
    const end = { ...at, type: 'run.end', stopReason: 'paused', turns: 2, usage, costUsd: 0 } as const
    const paused = narrate({ ...end, reason: { type: 'stall', ...stall } })!
    assert.is(paused.message, 'run paused after 2 turns: it went in circles')
    assert.not.match(JSON.stringify([detected, paused]), 's-quoted')
  })

  it('says of a compaction what it saved, and of a strategy that failed that it did', () => {
    const end = { ...at, type: 'compaction.end', tokensBefore: 900, tokensAfter: 300, costUsd: 0 } as const
    assert.is(told({ ...end, applied: true, reason: '' }), 'info: conversation compacted from 900 to 300 tokens')
    assert.is(
      told({ ...end, applied: true, reason: 'strategy "llm" failed, so the heuristic was used: s-quoted' }),
      'warn: conversation compacted from 900 to 300 tokens, but strategy "llm" failed, so the heuristic was used',
    )
    assert.is(told({ ...end, applied: false, reason: 'aborted' }), 'warn: conversation not compacted')
  })

  it('says nothing of deltas, requests and states', () => {
    assert.is(narrate({ ...at, type: 'reply.delta', text: 's', offset: 0 }), undefined)
    assert.is(narrate({ ...at, type: 'state.changed', state: 'idle', previous: 'replying' }), undefined)
  })

  it('says what was wrong with an answer, but quotes nothing of it', () => {
    const error = errorInfo(
      'OUTPUT_INVALID',
      'The answer cannot be used, as it does not fit the output schema: age: expected number; Unrecognized key: "s-key". It was: "{\\"name\\":\\"s-name\\"}".',
    )
    const line = narrate({ ...at, type: 'reply.reset', attempt: 1, error, repair: 's-repair' })!
    assert.is(line.message, 'the answer does not fit, asked again')
    assert.match(String(line.fields['error']), 'age: expected number; Unrecognized key: "…". Loosen the output schema')
    assert.not.match(JSON.stringify(line), /s-/)
  })

  it('tells of a warning of the model as one', () => {
    const event = { ...at, type: 'model.warning', model: 'm:1', message: 'no seed' } as const
    assert.is(told(event), 'warn: the model warns')
    assert.equal([narrate(event)!.fields['model'], narrate(event)!.fields['warning']], ['m:1', 'no seed'])
  })

  it('counts a missing price or usage and a repaired log as a warning and other errors beside a run as errors', () => {
    const error = (code: string): AgentEvent => ({ ...at, type: 'error', error: { code, message: 'm' } })
    assert.is(told(error('PRICE_UNKNOWN')), 'warn: something went wrong: PRICE_UNKNOWN')
    assert.is(told(error('USAGE_UNKNOWN')), 'warn: something went wrong: USAGE_UNKNOWN')
    assert.is(told(error('LOG_REPAIRED')), 'warn: something went wrong: LOG_REPAIRED')
    assert.is(told(error('SUBSCRIBER_FAILED')), 'error: something went wrong: SUBSCRIBER_FAILED')
  })
})

describe('logEvent', (it) => {
  it('calls the method on its logger, which may need it', () => {
    const lines: string[] = []
    class Own {
      readonly lines = lines
      debug(_: object, message: string): void {
        this.lines.push(message)
      }
      info = this.debug
      warn = this.debug
      error = this.debug
    }
    logEvent(new Own(), { v: 3, seq: 1, time: 0, type: 'agent.stopped', agentId: 'a1', path: [] })
    assert.equal(lines, ['agent stopped'])
  })
})

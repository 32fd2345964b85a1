import { inspect } from 'node:util'
import { z } from 'zod'
import { errorInfoSchema } from '../../src/protocol/errorInfo.ts'
import {
  describeIssues,
  errorCodes,
  errorInfo,
  errorTable,
  labelOf,
  messageOf,
  RuntimeError,
  asSentence,
  toErrorInfo,
  withoutAdvice,
} from '../../src/protocol/errors.ts'
import { loadPeer } from '../../src/protocol/ports/loadPeer.ts'
import { onlyFields } from '../../src/protocol/checks/onlyFields.ts'
import { assert, describe } from '../support/suite.ts'

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const cyclic: Record<string, unknown> = { name: 'loop' }
cyclic['self'] = cyclic

/** Anything may be thrown. */
const thrown: readonly (readonly [title: string, value: () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['an empty string', () => ''],
  ['a number', () => NaN],
  ['a bigint', () => 5n],
  ['a symbol', () => Symbol('s')],
  ['a function', () => () => 1],
  ['a plain object', () => ({ code: 1 })],
  ['an object without a prototype', () => Object.create(null) as unknown],
  ['a cyclic object', () => cyclic],
  ['an error without message and name', () => Object.assign(new Error(''), { name: '' })],
  ['an error whose message is an object', () => Object.assign(new Error('x'), { message: { deep: true } })],
  ['an error whose message is a symbol', () => Object.assign(new Error('x'), { message: Symbol('s') })],
  [
    'an error whose message cannot be read',
    () =>
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('no')
        },
      }),
  ],
  [
    'a cyclic object that does not tell its kind',
    () => {
      const odd: Record<PropertyKey, unknown> = {}
      odd['self'] = odd
      return Object.defineProperty(odd, Symbol.toStringTag, {
        get() {
          throw new Error('no')
        },
      })
    },
  ],
  [
    'an object whose toJSON throws',
    () => ({
      toJSON: () => {
        throw new Error('no')
      },
    }),
  ],
  [
    'an object whose toJSON gives nothing',
    () => Object.assign(Object.create(null) as object, { toJSON: () => undefined }),
  ],
  ['a revoked proxy', revoked],
]

describe('what a thrown value says', (it) => {
  for (const [title, value] of thrown) {
    it(`is a text, and never another error, for ${title}`, () => {
      const message = messageOf(value())
      assert.type(message, 'string')
      assert.is(withoutAdvice(value()), message)
      assert.ok(message.length > 0)
      const info = toErrorInfo(value(), 'INTERNAL')
      assert.equal(errorInfoSchema().parse(info), info)
      assert.ok(info.message.endsWith(errorTable.INTERNAL))
    })
  }

  it('is the message of an error, else its name', () => {
    assert.is(messageOf(new TypeError('not a function')), 'not a function')
    assert.is(messageOf(new TypeError('')), 'TypeError')
    assert.is(messageOf('plain'), 'plain')
    assert.is(messageOf({ a: 1 }), '{"a":1}')
  })

  it('ends in one full stop, and a long run of spaces does not hold it up', () => {
    for (const text of ['it broke', 'it broke.', 'it broke!\n', 'it broke... '])
      assert.is(asSentence(text), 'it broke.')
    const spaces = ' '.repeat(1_000_000)
    assert.is(asSentence(`a${spaces}b`), `a${spaces}b.`)
    assert.is(asSentence(''), '.')
  })
})

describe('errors of the runtime', (it) => {
  it('carry a code, and say what happened and what to do', () => {
    const cause = new Error('ENOSPC')
    const error = new RuntimeError('STORE_APPEND_FAILED', 'The disk is full.', { cause })
    assert.instance(error, Error)
    assert.is(error.name, 'RuntimeError')
    assert.is(error.code, 'STORE_APPEND_FAILED')
    assert.is(error.message, `The disk is full. ${errorTable.STORE_APPEND_FAILED}`)
    assert.is(error.cause, cause)
  })

  it('keep their own code as plain data; others get the fallback', () => {
    assert.is(toErrorInfo(new RuntimeError('QUEUE_FULL', 'Full.'), 'INTERNAL').code, 'QUEUE_FULL')
    assert.is(toErrorInfo(new Error('x'), 'MODEL_FAILED').code, 'MODEL_FAILED')
  })

  it('end the sentence of a foreign message once', () => {
    for (const message of ['it broke', 'it broke.', 'it broke!  ']) {
      assert.is(toErrorInfo(new Error(message), 'INTERNAL').message, errorInfo('INTERNAL', 'it broke.').message)
    }
  })

  it('have one mark at the end of a message that is put into another', () => {
    for (const [what, said] of [
      ['It threw: it broke..', 'It threw: it broke.'],
      ['It threw: did you mean "x"?.', 'It threw: did you mean "x"?'],
      ['Stop!', 'Stop!'],
      ['It waited...', 'It waited...'],
    ] as const) {
      assert.is(new RuntimeError('INTERNAL', what).message, `${said} ${errorTable.INTERNAL}`)
      assert.is(errorInfo('INTERNAL', what).message, `${said} ${errorTable.INTERNAL}`)
    }
    assert.is(withoutAdvice(new RuntimeError('QUEUE_FULL', 'Full.')), 'Full.')
    assert.is(withoutAdvice(new Error(`Full. ${errorTable.QUEUE_FULL}`)), `Full. ${errorTable.QUEUE_FULL}`)
  })

  it('say how a missing package is installed, and no more', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
    const loading = loadPeer(() => Promise.reject(missing), 'The format of skills', 'yaml')
    const failed = toErrorInfo(await loading.catch((reason: unknown) => reason), 'INTERNAL')
    assert.equal(failed, {
      code: 'PACKAGE_MISSING',
      message:
        'The format of skills needs a package that is not installed: npm install yaml. Run that in your project, and start again.',
    })
  })

  it('call a definition by its name, if it has one', () => {
    assert.equal(
      [labelOf('Agent', { name: 'a' }), labelOf('Agent', {}), labelOf('Agent', null), labelOf('Agent', undefined)],
      ['Agent "a"', 'Agent', 'Agent', 'Agent'],
    )
  })

  it('name what may be meant by fields that are not known', () => {
    const schema = z.object({ limits: onlyFields({ turns: z.number(), costUsd: z.number() }).partial() })
    const { error } = schema.safeParse({ limits: { turn: 1, everything: 2 } })
    assert.is(
      describeIssues(error!),
      'limits: "turn" is not known; did you mean "turns"?; limits: "everything" is not known; there are: turns, costUsd',
    )
  })

  it('all have advice that is a sentence', () => {
    assert.ok(errorCodes.length > 20)
    for (const code of errorCodes) {
      assert.match(code, /^[A-Z][A-Z_]+[A-Z]$/)
      assert.match(errorTable[code], /^[A-Z].*\.$/)
    }
  })

  it('tell in one line what zod found wrong, and where', () => {
    const { error } = z.object({ a: z.object({ b: z.number() }), c: z.string() }).safeParse({ a: { b: 'x' } })
    assert.match(describeIssues(error!), /^a\.b: .*number.*; c: .*string/)
    assert.not.match(describeIssues(z.string().safeParse(1).error!), /^:/)
  })
})

describe('an error that says itself what to correct', (it) => {
  it('has no advice beside the point, and prints no field that it has not', () => {
    const error = new RuntimeError('INVALID_OPTION', 'The name is missing.')
    assert.is(error.message, 'The name is missing.')
    assert.not.ok(inspect(error).includes('data'))
    assert.is(Object.hasOwn(error, 'data'), false)
    assert.ok(inspect(new RuntimeError('AGENT_ELSEWHERE', 'It is.', { data: { url: 'ws://h' } })).includes('ws://h'))
    assert.is(withoutAdvice(error), error.message)
    assert.is(errorInfo('INVALID_DEFINITION', 'No.').message, 'No.')
  })
})

import { z } from 'zod'
import { optionsCheck } from '../../src/protocol/checks/optionsCheck.ts'
import { assert, describe } from '../support/suite.ts'

/** A check of a few options, and of which a schema was made. */
function counted() {
  const made: string[] = []
  const noting = <T extends z.ZodType>(name: string, make: () => T) => {
    return () => {
      made.push(name)
      return make()
    }
  }
  const check = optionsCheck(
    { name: noting('name', () => z.string().min(1, 'give a name')) },
    {
      limit: noting('limit', () => z.int().positive()),
      retry: noting('retry', () => z.strictObject({ attempts: z.int() })),
    },
  )
  return { check, made }
}

describe('the check of options', (it) => {
  it('makes the schemas of those that are given, once', () => {
    const { check, made } = counted()
    assert.equal(made, [])
    for (let i = 0; i < 2; i++) assert.is(check({ name: 'a', limit: 2, retry: undefined }), undefined)
    assert.equal(made, ['name', 'limit'])
  })

  it('says what is wrong in each, where in it, and which are missing', () => {
    const { check } = counted()
    assert.is(check({ name: '', retry: { attempts: 'x' } })?.split('; ').length, 2)
    assert.match(
      check({ name: '', retry: { attempts: 'x' } }) ?? '',
      /^name: give a name; retry\.attempts: give a number, not a string$/,
    )
    assert.match(check({ limit: 2 }) ?? '', /^name: missing, give a string$/)
    assert.is(check({ name: 'a', limit: null }), 'limit: give a number, not null')
    assert.is(check({ name: 'a', limit: -1 }), 'limit: give more than 0, not -1')
  })

  it('names what is not known, with what may be meant', () => {
    const { check } = counted()
    assert.is(check({ name: 'a', limits: 2 }), '"limits" is not known; did you mean "limit"?')
    assert.is(check({ name: 'a', zzz: undefined }), '"zzz" is not known; there are: name, limit, retry')
  })

  it('takes objects only', () => {
    const { check, made } = counted()
    for (const options of [undefined, null, 'a', 5, [], () => {}])
      assert.match(check(options) ?? '', /give an object(?:, not [\w ]+)?: give \{ name \}$/)
    assert.match(optionsCheck({}, {})(5) ?? '', /^give an object, not a number$/)
    assert.equal(made, [])
  })
})

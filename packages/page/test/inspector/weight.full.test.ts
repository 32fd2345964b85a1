import { join } from 'node:path'
import { build, type Rolldown } from 'vite'
import { adviceOf, errorCodes, errorTable, type ErrorCode } from '../../../../src/protocol/errors.ts'
import { smallest } from '../../../bridge/src/page/compressed.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const page = join(import.meta.dirname, '..', '..', 'src', 'inspector')

/**
 * Bytes as the server sends them once they were asked for before: of what has to be there before the overview or the conversation of an agent can be drawn, of the details beside
 * it, and of all scripts, without the worker that lays charts out.
 */
const most = { overview: 57_000, conversation: 89_700, withDetails: 105_600, all: 224_000 }

describe('the weight of the page', (it) => {
  it('is what a slow connection bears, and zod is none of it', { timeoutMs: 120_000 }, async () => {
    const made = await build({
      root: page,
      configFile: join(page, 'vite.config.ts'),
      logLevel: 'error',
      build: { write: false },
    })
    const [{ output }] = [made].flat() as [Rolldown.RolldownOutput]
    const chunks = output.filter((part) => part.type === 'chunk')
    const packages = new Set<string>()
    for (const id of chunks.flatMap(({ modules }) => Object.keys(modules)))
      packages.add(/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? '')
    assert.not.ok(packages.has('zod'), 'a module that the page imports has a schema')
    assert.ok(packages.has('preact'))
    const bytes = new Map<string, number>()
    for (const { fileName, code } of chunks) bytes.set(fileName, (await smallest(Buffer.from(code))).length)
    /** Weight of all modules that are loaded once these have been asked for. */
    const weightOf = (...views: readonly string[]): number => {
      const begin = chunks.filter(({ facadeModuleId: id }) => views.some((view) => id?.endsWith(`/inspector/${view}`)))
      assert.is(begin.length, views.length, `not each of ${views.join(', ')} has a file of its own`)
      const loaded = new Set(begin.map(({ fileName }) => fileName))
      for (const name of loaded)
        for (const imported of chunks.find(({ fileName }) => fileName === name)!.imports) loaded.add(imported)
      return [...loaded].reduce((sum, fileName) => sum + bytes.get(fileName)!, 0)
    }
    const agent = ['views/agent/agentPane.tsx', 'model/agent/followedAgent.ts'] as const
    const weights = {
      overview: weightOf('views/shell/start.tsx'),
      conversation: weightOf(...agent),
      withDetails: weightOf(...agent, 'views/details/detailsPane.tsx'),
      all: [...bytes.values()].reduce((sum, one) => sum + one, 0),
    }
    const names = Object.keys(weights) as (keyof typeof weights)[]
    assert.equal(
      names.filter((name) => weights[name] > most[name]),
      [],
      JSON.stringify(weights),
    )
    const scripts = chunks.map(({ code }) => code).join('\n')
    const isMade = (code: ErrorCode): boolean => new RegExp(`["'\`]${code}["'\`]`).test(scripts)
    const isAdvised = (code: ErrorCode): boolean => scripts.includes(errorTable[code])
    assert.equal(
      errorCodes.filter((code) => isMade(code) && adviceOf(code) !== '' && !isAdvised(code)),
      [],
      'the page does not have the advice of these errors, which it makes itself',
    )
  })
})

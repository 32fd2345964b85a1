import { fileURLToPath } from 'node:url'
import { assert, describe } from '../support/suite.ts'
import { cliCommand, projectFolder } from '../../packages/cli/test/cliChild.ts'
import { recordSession } from '../../packages/cli/test/cliSessions.ts'
import { forLater, importing, importOf, loaded, running, started } from './startedProcess.ts'

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

describe('a start', (it) => {
  it('of the library loads no server, no process, no page and no door of another', async (context) => {
    const report = await started(context, importing(source('index.ts')))
    const others =
      /\/packages\/(?:cli\/(?!src\/defineConfig)|(?:page|acp|ag-ui|stately|otel|mcp|postgres|sqlite|bridge\/src\/(?:client|page|server\/serve\.))\/)/
    assert.equal([...loaded(report, forLater), ...loaded(report, others)], [])
    assert.ok(loaded(report, /\/node_modules\/zod\//).length > 0, 'modules are seen at all')
  })

  it('of the library makes no schema, no segmenter, and no table of what characters look like', async (context) => {
    const { schemas, segmenters, normalForms, tables } = await started(context, importing(source('index.ts')))
    assert.equal({ schemas, segmenters, normalForms }, { schemas: 0, segmenters: 0, normalForms: 0 })
    assert.ok(tables <= 1, `${tables} tables were made; nanoid makes one`)
  })

  it('of a first run makes the few schemas of what it is given, and no segmenter', async (context) => {
    const { schemas, segmenters } = await started(
      context,
      running(`
        const { createRuntime, defineAgent, policyModel } = ${importOf(source('index.ts'))}
        const runtime = await createRuntime()
        const agent = await runtime.spawn(defineAgent({ name: 'talker', model: policyModel(() => 'Hello.') }))
        await agent.prompt('Say hello').result
        await runtime.close()
      `),
    )
    assert.is(segmenters, 0)
    assert.ok(schemas > 0, 'schemas are seen at all')
    assert.ok(schemas <= 20, `${schemas} schemas were made`)
  })

  it('of the client loads nothing of Node', async (context) => {
    const report = await started(context, importing(source('client.ts')))
    assert.equal(loaded(report, /^node:|\/node_modules\/(?!zod\/)/), [])
  })

  for (const args of [['--help'], ['help', 'run'], ['--version'], []])
    it(`of the command line (${args.join(' ') || 'no arguments'}) loads no package and no runtime`, async (context) => {
      const report = await started(context, cliCommand(args).slice(1))
      const others = /\/node_modules\/|^node:(?!util$|process$|module$|os$|path$)|(?<!\/cli)\/src\/(?!protocol)/
      assert.equal(loaded(report, others), [])
      assert.ok(report.modules.length < 24, `${report.modules.length} modules were loaded`)
    })

  it('of a list of sessions loads no agents, no store but that of the folder, and no XState', async (context) => {
    const dir = projectFolder(context)
    await recordSession(dir, { id: 's1', prompts: ['hi'], replies: ['hello'] })
    const report = await started(context, cliCommand(['sessions', '--dir', dir]).slice(1))
    const others =
      /\/src\/(?:actors\/(?!files\/isInside)|machines|runtime|conversation\/tree\/conversation\.)|\/packages\/(?:sqlite|postgres|mcp)\/|\/node_modules\/(?!zod\/)/
    assert.equal(loaded(report, others), [])
    assert.ok(loaded(report, /\/packages\/stores\/src\/fileStore\./).length > 0, 'the store of the folder is seen')
  })
})

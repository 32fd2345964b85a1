import { fileURLToPath } from 'node:url'
import { assert, describe } from '../support/suite.ts'
import { cliCommand } from '../cli/cliChild.ts'
import { forLater, importing, loaded, started } from './startedProcess.ts'

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

describe('a start', (it) => {
  it('of the library loads no server, no process, no page and no door of another', async (context) => {
    const report = await started(context, importing(source('index.ts')))
    const others =
      /\/src\/(?:client|cli|inspector|server\/(?:bridge\/serve\.|acp|agUi|page|stately)|telemetry\/(?:agentTrace|genAi|otel|span))/
    assert.equal([...loaded(report, forLater), ...loaded(report, others)], [])
    assert.ok(loaded(report, /\/node_modules\/zod\//).length > 0, 'modules are seen at all')
  })

  it('of the library makes no segmenter, and no table of what characters look like', async (context) => {
    const { segmenters, normalForms, tables } = await started(context, importing(source('index.ts')))
    assert.equal({ segmenters, normalForms }, { segmenters: 0, normalForms: 0 })
    assert.ok(tables <= 1, `${tables} tables were made; nanoid makes one`)
  })

  it('of the client loads nothing of Node', async (context) => {
    const report = await started(context, importing(source('client.ts')))
    assert.equal(loaded(report, /^node:|\/node_modules\/(?!zod\/)/), [])
  })

  for (const args of [['--help'], ['help', 'run'], ['--version'], []])
    it(`of the command line (${args.join(' ') || 'no arguments'}) loads no package and no runtime`, async (context) => {
      const report = await started(context, cliCommand(args).slice(1))
      assert.equal(loaded(report, /\/node_modules\/|^node:(?!util$|process$)|\/src\/(?!cli|protocol)/), [])
      assert.ok(report.modules.length < 20, `${report.modules.length} modules were loaded`)
    })
})

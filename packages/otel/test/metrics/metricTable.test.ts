import { readFile } from 'node:fs/promises'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { metricTable, type MetricShape } from '../../src/metrics/metricTable.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const metrics: [string, MetricShape][] = Object.entries(metricTable)
const known = new Set<unknown>(Object.values(conventions))
const isOwn = (name: string): boolean => name.startsWith('escapement.')
const names = [...metrics.map(([name]) => name), ...metrics.flatMap(([, { attributes }]) => attributes)]

describe('the table of metrics', (it) => {
  it('has the names of the semantic conventions, and our own begin with "escapement."', () => {
    for (const name of names.filter((one) => !isOwn(one))) assert.ok(known.has(name), name)
    for (const name of names.filter(isOwn)) assert.not.ok(known.has(name), name)
  })

  it('has buckets for histograms alone, each above the one before', () => {
    for (const [name, { kind, buckets }] of metrics) {
      assert.is(buckets !== undefined, kind === 'histogram', name)
      for (const [index, bound] of (buckets ?? []).entries())
        assert.ok(index === 0 || bound > buckets![index - 1]!, name)
    }
  })

  it('has no attribute with the id of an agent, a run, a call or a person', () => {
    for (const [name, { attributes }] of metrics)
      for (const attribute of attributes) assert.not.match(attribute, /\.id$|user|tenant|metadata/, name)
  })

  it('is that of the guide', async () => {
    const page = await readFile(new URL('../../../../docs/tracing.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `([\w.]+)` \| (\S+) \|/gm)].map(([, name, unit]) => [name, unit])
    const told = rows.filter(([name]) => metrics.some(([one]) => one === name))
    assert.equal(
      told,
      metrics.map(([name, { unit }]) => [name, unit]),
    )
  })
})

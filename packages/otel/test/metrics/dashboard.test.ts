import { readFile } from 'node:fs/promises'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { Instruments } from '../../src/metrics/instruments.ts'
import { metricTable, type MetricName, type MetricShape } from '../../src/metrics/metricTable.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'

interface Panel {
  readonly title: string
  readonly type: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string }[] }
}

const dashboard = JSON.parse(
  await readFile(new URL('../../../../examples/cluster/grafana.json', import.meta.url), 'utf8'),
) as Dashboard
const targets = dashboard.panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, ...target })))

/** Labels of each series, as a Prometheus server reads them, of every metric there is. */
async function exported({ cleanup }: CaseContext): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const reader = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true })
  const provider = new MeterProvider({ readers: [reader] })
  cleanup(() => provider.shutdown())
  const instruments = new Instruments(provider.getMeter('test'), {})
  for (const [name, { kind, attributes }] of Object.entries(metricTable) as [MetricName, MetricShape][]) {
    const values = Object.fromEntries(attributes.map((attribute) => [attribute, 'x']))
    if (kind === 'histogram') instruments.record(name as never, 1, values)
    else if (kind === 'counter' || kind === 'upDown') instruments.add(name as never, 1, values)
    else instruments.observe([name as never], (report) => report(name as never, 1, values))
  }
  const { resourceMetrics } = await reader.collect()
  const text = new PrometheusSerializer(undefined, false, undefined, true).serialize(resourceMetrics)
  const lines = text.split('\n').flatMap((line) => {
    const [, series, labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? []
    return series === undefined
      ? []
      : [[series, new Set([...labels.matchAll(/(\w+)=/g)].map(([, label]) => label!))] as const]
  })
  return new Map(lines)
}

/** Labels that a Prometheus server adds. */
const added = ['job', 'instance']

describe('the dashboard of examples/cluster', (it) => {
  it('asks for metrics that there are, by labels that they have', async (context) => {
    const series = await exported(context)
    assert.ok(series.size > 30)
    assert.ok(targets.length > 30)
    for (const { title, expr } of targets) {
      const named = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)]
      assert.ok(named.length > 0, `${title}: ${expr}`)
      const labels = new Set(added)
      for (const [, metric, selectors] of named) {
        const own = series.get(metric!)
        assert.ok(own, `${title}: there is no ${metric}`)
        for (const label of own) labels.add(label)
        for (const [, label] of selectors!.matchAll(/(\w+)(?:=~|!=|=)"/g))
          assert.ok(own.has(label!) || added.includes(label!), `${title}: ${metric} has no ${label}`)
      }
      const by = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '))
      for (const label of by) assert.ok(labels.has(label), `${title}: there is no label ${label}`)
    }
  })

  it('shows what its labels say, and has its panels beside each other', () => {
    for (const { title, expr, legendFormat } of targets)
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(expr.includes(label!) || label === 'instance', title)
    const taken = new Set<string>()
    for (const { title, gridPos } of dashboard.panels)
      for (let row = gridPos.y; row < gridPos.y + gridPos.h; row += 1)
        for (let column = gridPos.x; column < gridPos.x + gridPos.w; column += 1) {
          assert.ok(!taken.has(`${row}/${column}`) && column < 24, title)
          taken.add(`${row}/${column}`)
        }
    const variables = dashboard.templating.list.map(({ name }) => name)
    assert.equal(variables, ['datasource', 'job'])
  })

  it('has nearly every metric of the table', () => {
    const asked = targets.map(({ expr }) => expr).join(' ')
    const missing = Object.keys(metricTable).filter((name) => !asked.includes(name.replaceAll('.', '_')))
    assert.equal(missing, ['gen_ai.client.token.usage'])
  })
})

import type { ServerResponse } from 'node:http'
import { RuntimeError } from '../../protocol/errors.ts'
import { chart, type ChartFormat } from '../charts/chart.ts'
import type { Visit } from './visit.ts'

const kinds: Readonly<Record<string, { readonly format: ChartFormat; readonly type: string }>> = {
  svg: { format: 'svg', type: 'image/svg+xml' },
  mmd: { format: 'mermaid', type: 'text/plain; charset=utf-8' },
  json: { format: 'json', type: 'application/json' },
}

const place = /^\/agents\/([^/]+)\/chart\.(svg|mmd|json)$/

/** Whether a path is that of an agent's chart: `/agents/<id>/chart.svg`, `.mmd` or `.json`. */
export const isChartPath = (path: string): boolean => place.test(path)

const statusOf: Readonly<Record<string, number>> = { AGENT_NOT_FOUND: 404, BRIDGE_FORBIDDEN: 403 }

/** @throws RuntimeError `INVALID_ID` */
function idOf(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw new RuntimeError('INVALID_ID', `${JSON.stringify(encoded)} is no agent id.`)
  }
}

/** Answers with the chart of an agent as it is now; of one that does not run with that of its definition, if the server has it. */
export async function answerChart(response: ServerResponse, path: string, visit: Visit): Promise<void> {
  const [, id = '', extension = ''] = place.exec(path) ?? []
  const { format, type } = kinds[extension]!
  try {
    const subject = await visit.charted(idOf(id))
    const drawn = await chart(subject, { format })
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    response.end(typeof drawn === 'string' ? drawn : JSON.stringify(drawn))
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown
    const { code, message } = thrown
    response.writeHead(statusOf[code] ?? 400, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify({ code, message }))
  }
}

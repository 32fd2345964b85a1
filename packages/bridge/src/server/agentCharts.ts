import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorInfo, RuntimeError } from '../../../../src/protocol/errors.ts'
import {
  chart,
  chartDetails,
  type ChartDetail,
  type ChartFormat,
  type ChartSubject,
} from '../../../charts/src/chart.ts'
import type { ServedChart } from '../../../charts/src/servedChart.ts'
import { checkChoice } from '../../../../src/protocol/checks/checkChoice.ts'
import type { AgentAccess } from './agentAccess.ts'
import { answerCompressed } from './compressedAnswer.ts'

const kinds: Readonly<Record<string, { readonly format: ChartFormat; readonly type: string }>> = {
  svg: { format: 'svg', type: 'image/svg+xml' },
  mmd: { format: 'mermaid', type: 'text/plain; charset=utf-8' },
  json: { format: 'json', type: 'application/json' },
}

const place = /^\/agents\/([^/]+)\/chart\.(svg|mmd|json)$/

/** Returns true for the path of an agent's chart: `/agents/<id>/chart.svg`, `.mmd` or `.json`. */
export const isChartPath = (path: string): boolean => place.test(path)

export const statusOf: Readonly<Record<string, number>> = {
  AGENT_NOT_FOUND: 404,
  MACHINE_NOT_FOUND: 404,
  BRIDGE_FORBIDDEN: 403,
  INVALID_ID: 400,
  INVALID_OPTION: 400,
  FILE_MISSING: 503,
}

/** Returns the id of an agent from a path. @throws RuntimeError `INVALID_ID` */
export function idOf(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw new RuntimeError('INVALID_ID', `${JSON.stringify(encoded)} is not an agent id.`)
  }
}

/** Returns the requested detail of the chart. @throws RuntimeError `INVALID_OPTION` */
function detailOf(request: IncomingMessage): ChartDetail | undefined {
  const detail = queryOf(request).get('detail')
  return detail === null ? undefined : checkChoice('detail', detail, chartDetails)
}

/** The charts of a server's agents. */
export class AgentCharts {
  /** The last drawing. Pictures are drawn one at a time, because each layout takes a thread. */
  #last: Promise<unknown> = Promise.resolve()

  /** Answers with the current chart of an agent. If the agent does not run, answers with its definition's chart, if the server has it. */
  async answer(request: IncomingMessage, response: ServerResponse, access: AgentAccess, path: string): Promise<void> {
    const [, id = '', extension = ''] = place.exec(path) ?? []
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD, OPTIONS')
      return answerJson(response, 405, errorInfo('BRIDGE_FRAME', `Request a chart with GET, not ${request.method}.`))
    }
    const { format, type } = kinds[extension]!
    try {
      const detail = detailOf(request)
      const subject = await access.charted(idOf(id))
      const drawn = await this.#drawn(subject, { format, detail, request, response })
      await answerCompressed(request, response, typeof drawn === 'string' ? drawn : JSON.stringify(drawn), {
        'content-type': type,
        // Opened by itself, a picture runs nothing and asks for nothing.
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      })
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError)) throw thrown
      answerJson(response, statusOf[thrown.code] ?? 500, access.outward(thrown))
    }
  }

  async #drawn(subject: ChartSubject, { format, detail, request, response }: Asked): Promise<string | ServedChart> {
    if (format === 'mermaid') return chart(subject, { format, detail })
    if (format === 'svg') return await this.#inTurn(response, (signal) => chart(subject, { format, detail, signal }))
    const model = chart(subject, { format, detail })
    // Only now: what lays out is needed for no agent's work.
    const { layoutAsked, servedChart } = await import('../../../charts/src/servedChart.ts')
    const asked = layoutAsked(queryOf(request))
    if (asked.withFull !== true) return await servedChart(model)
    return await this.#inTurn(response, (signal) => servedChart(model, { ...asked, signal }))
  }

  /** Calls `draw` after earlier drawings have ended; its signal is aborted once the client has left. */
  #inTurn<T>(response: ServerResponse, draw: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const gone = new AbortController()
    response.on('close', () => gone.abort(new Error('the client has gone')))
    const drawn = this.#last.then(() => draw(gone.signal))
    this.#last = drawn.catch(() => {})
    return drawn
  }
}

interface Asked {
  readonly format: ChartFormat
  readonly detail: ChartDetail | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const queryOf = ({ url = '' }: IncomingMessage): URLSearchParams => new URLSearchParams(url.split('?', 2)[1])

export function answerJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(value))
}

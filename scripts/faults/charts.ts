import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'charts-1',
    file: 'src/charts/overviewModel.ts',
    what: 'the overview forgets transitions from inside a closed state',
    from: 'if (from !== to) return edge.isInternal === true ? [] : [{ ...edge, from, to }]',
    to: 'if (from !== to) return edge.isInternal === true || edge.from !== from ? [] : [{ ...edge, from, to }]',
    tests: ['charts/overview'],
  },
  {
    id: 'charts-2',
    file: 'src/charts/overviewLayout.ts',
    what: 'labels of the overview lie on states',
    from: 'for (const other of taken) if (overlaps(area, other, 3)) cost += 10_000',
    to: 'for (const other of taken) if (overlaps(area, other, 3)) cost += 0',
    tests: ['charts/overview'],
  },
  {
    id: 'charts-3',
    file: 'src/charts/overviewDrawing.ts',
    what: 'what has no arrow is in no picture either',
    from: 'const said = moves.filter((edge) => edge.from === id && (isStop(id) || !(isDrawn(edge) || isStop(edge.to))))',
    to: 'const said = moves.filter((edge) => edge.from === id && isStop(id))',
    tests: ['charts/overview'],
  },
  {
    id: 'charts-4',
    file: 'src/charts/layoutCache.ts',
    what: 'one client that leaves ends the layout that others wait for',
    from: 'if (entry.waiting === 0 && signal?.aborted === true) {',
    to: 'if (signal?.aborted === true) {',
    tests: ['charts/layoutCache'],
  },
  {
    id: 'charts-5',
    file: 'src/charts/chartLayout.ts',
    what: 'every setting of the brakes needs a layout of its own',
    from: "style === 'open' || style === 'shut' || style === 'brake' ? [...lines.slice(0, -1), brakeLine] : lines",
    to: "style === 'runs' ? [...lines.slice(0, -1), brakeLine] : lines",
    tests: ['charts/layoutCache'],
  },
]

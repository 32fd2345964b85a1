import type { ChartDrawing, DrawnNode } from '../src/charts/chartDrawing.ts'
import { fromElk, toElk } from '../src/charts/chartLayout.ts'
import { chartSvg } from '../src/charts/chartSvg.ts'
import { layoutInWorker } from '../src/charts/layoutInWorker.ts'
import { layers } from './layers.ts'

const root = 'src'
/** Doors only name what is below them; one of them puts the runtime and its server together. */
const drawn = layers.filter(({ path }) => !path.endsWith('.ts') || path === 'createRuntime.ts')
const folders = [...new Set(drawn.flatMap(({ path }) => (path.includes('/') ? [path.split('/')[0]!] : [])))]
/** Files beside the folders of a layer are drawn as one of them. */
const idOf = (path: string): string => (folders.includes(path) ? `${path}/${path}.ts` : path)

const below = new Map(
  drawn.map(({ path, below: names, types = [] }) => [
    path,
    drawn
      .map((layer) => layer.path)
      .filter((other) => [...names, ...types].some((name) => other === name || other.startsWith(`${name}/`))),
  ]),
)

/** Tells whether one layer depends on another one through further layers. */
const isIndirect = (from: string, to: string): boolean =>
  below.get(from)!.some((via) => via !== to && (below.get(via)!.includes(to) || isIndirect(via, to)))

function drawing(): ChartDrawing {
  const boxes: readonly DrawnNode[] = [
    { id: root, kind: 'machine', label: root, details: [] },
    ...folders.map((folder) => ({ id: folder, kind: 'compound', label: folder, details: [], parent: root }) as const),
    ...drawn.map(({ path }): DrawnNode => {
      const id = idOf(path)
      const [folder, name] = id.split('/')
      return { id, kind: 'atomic', label: name ?? id, details: [], parent: name === undefined ? root : folder! }
    }),
  ]
  const arrows = [...below].flatMap(([from, names]) =>
    names
      .filter((to) => !isIndirect(from, to))
      .map(
        (to) =>
          ({ id: `${from} ${to}`, from: idOf(from), to: idOf(to), lines: [], style: 'plain', edges: [] }) as const,
      ),
  )
  return { title: 'The layers of src', nodes: boxes, arrows }
}

/** The layers of `src`, each above what it imports. An arrow that others imply is left out. */
export async function drawLayers(): Promise<string> {
  const picture = drawing()
  const svg = chartSvg(fromElk(await layoutInWorker(toElk(picture, 'down')), picture))
  return svg.replace('Statechart of ', '').replace('States: ', 'Layers: ')
}

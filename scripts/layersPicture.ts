import type { ChartDrawing, DrawnNode } from '../packages/charts/src/chartDrawing.ts'
import { fromElk, toElk } from '../packages/charts/src/chartLayout.ts'
import { chartSvg } from '../packages/charts/src/chartSvg.ts'
import { layoutInWorker } from '../packages/charts/src/layoutInWorker.ts'
import { layers } from './layers.ts'

/** The place of a row in the picture: a room of `src` or a package, whose inner rows are drawn as one. */
const placeOf = (path: string): string => path.split('/').slice(0, 2).join('/')

const places = [...new Set(layers.map(({ path }) => placeOf(path)))]

const below = new Map(
  places.map((place) => [
    place,
    [
      ...new Set(
        layers
          .filter(({ path }) => placeOf(path) === place)
          .flatMap(({ below: names, types = [] }) => [...names, ...types])
          .map(placeOf)
          .filter((other) => other !== place && places.includes(other)),
      ),
    ],
  ]),
)

/** True where one place stands on another by way of others. */
const isIndirect = (from: string, to: string): boolean =>
  below.get(from)!.some((via) => via !== to && (below.get(via)!.includes(to) || isIndirect(via, to)))

function drawing(): ChartDrawing {
  const node = (id: string, kind: DrawnNode['kind'], label: string, parent?: string): DrawnNode => ({
    id,
    kind,
    label,
    details: [],
    ...(parent !== undefined && { parent }),
  })
  const boxes = [
    node('escapement', 'machine', 'escapement'),
    node('src', 'compound', 'src', 'escapement'),
    node('packages', 'compound', 'packages', 'escapement'),
    ...places.map((place) => node(place, 'atomic', place.split('/')[1]!, place.split('/')[0])),
  ]
  const arrows = [...below].flatMap(([from, names]) =>
    names
      .filter((to) => !isIndirect(from, to))
      .map((to) => ({ id: `${from} ${to}`, from, to, lines: [], style: 'plain', edges: [] }) as const),
  )
  return { title: 'The core and its packages', nodes: boxes, arrows }
}

/** The rooms of the core and the packages, each above what it imports. An arrow that others imply is left out. */
export async function drawLayers(): Promise<string> {
  const picture = drawing()
  const svg = chartSvg(fromElk(await layoutInWorker(toElk(picture, 'down')), picture))
  return svg.replace('Statechart of ', '').replace('States: ', 'Layers: ')
}

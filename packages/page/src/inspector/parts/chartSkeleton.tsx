const boxes = [
  [11, 43, 132, 82],
  [433, 51, 110, 66],
  [35, 194, 84, 36],
  [254, 43, 124, 82],
  [436, 194, 104, 36],
  [240, 284, 152, 124],
  [21, 297, 112, 98],
  [620, 42, 164, 210],
  [620, 260, 164, 98],
  [620, 366, 164, 50],
] as const

/** Placeholder for a chart that is about to be drawn, and looks like one. */
export const ChartSkeleton = ({ label }: { readonly label: string }) => (
  <div class="chart-skeleton" role="status" aria-label={label}>
    <svg viewBox="0 0 800 420" aria-hidden="true">
      {boxes.map(([x, y, width, height]) => (
        <rect key={`${x} ${y}`} x={x} y={y} width={width} height={height} rx="8" />
      ))}
      <path d="M94 192Q160 128 252 98M380 112Q444 140 474 192M476 232Q450 284 394 310M294 282Q270 208 300 128" />
    </svg>
  </div>
)

const boxes = [
  [24, 52, 156, 66],
  [268, 40, 126, 66],
  [24, 216, 72, 36],
  [214, 162, 162, 66],
  [440, 214, 96, 36],
  [286, 306, 220, 102],
  [14, 338, 154, 66],
  [620, 42, 164, 194],
  [620, 244, 164, 82],
  [620, 334, 164, 50],
] as const

/** Stands where a chart is about to be drawn, and looks like one. */
export const ChartSkeleton = ({ label }: { readonly label: string }) => (
  <div class="chart-skeleton" role="status" aria-label={label}>
    <svg viewBox="0 0 800 420" aria-hidden="true">
      {boxes.map(([x, y, width, height]) => (
        <rect key={`${x} ${y}`} x={x} y={y} width={width} height={height} rx="8" />
      ))}
      <path d="M96 214Q150 186 214 188M377 192Q420 196 452 213M482 251Q472 280 454 305M330 305Q302 270 294 230" />
    </svg>
  </div>
)

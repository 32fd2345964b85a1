const widths = [62, 88, 40, 74, 55, 81, 34, 67]

/** Stands where something is about to be shown; `progress` from 0 to 1, when it is known. */
export const Skeleton = ({ label, progress }: { readonly label: string; readonly progress?: number }) => (
  <div class="skeleton" role="status" aria-label={label}>
    {progress === undefined || progress === 0 ? null : (
      <div
        class="progress"
        role="progressbar"
        aria-label={label}
        aria-valuenow={Math.round(progress * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <div style={{ width: `${progress * 100}%` }} />
      </div>
    )}
    {widths.map((width) => (
      <i key={width} style={{ width: `${width}%` }} />
    ))}
  </div>
)

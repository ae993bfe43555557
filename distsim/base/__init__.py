"""What every folder uses: errors, checks of arguments, result lists, parallel execution."""
